import TaskModel

struct SystemConditionsSource: ConditionsProvider {
    func current() -> Conditions { Conditions() }
    func start(onChange: @escaping @Sendable (Conditions) -> Void) {}
    func stop() {}
    func setSampling(interval: Duration?, of kinds: ConditionSet) {}
}
