package import TaskModel

/// Where a host gets the conditions of the machine from (rule 41): the machine, or a script of them.
package protocol ConditionsProvider: Sendable {
    /// As they are now. May block for as long as the questions it asks may take.
    func current() -> Conditions

    /// When work is allowed by the clock. May read files.
    ///
    /// - Throws: ``AllowedHoursError`` for files of the person's that cannot be used.
    func allowedHours() throws(AllowedHoursError) -> AllowedHours

    /// Reports conditions once, and then each time that one of them is seen to have changed, from a thread of the
    /// provider's own, one report after the other; and before that, that the machine is about to sleep or has come back.
    func start(onSleep: @escaping @Sendable (SleepEvent) -> Void, onChange: @escaping @Sendable (Conditions) -> Void)

    /// No report begins after this has returned.
    func stop()

    /// Conditions whose every change is reported without sampling. May be asked often.
    var eventDriven: ConditionSet { get }

    /// Looks at some conditions at an interval even when nothing reports that they changed; nil ends that. Others stay as
    /// they are.
    func setSampling(interval: Duration?, of kinds: ConditionSet)
}

extension ConditionsProvider {
    package func allowedHours() throws(AllowedHoursError) -> AllowedHours { AllowedHours() }

    /// Reports conditions alone.
    package func start(onChange: @escaping @Sendable (Conditions) -> Void) {
        start(onSleep: { _ in }, onChange: onChange)
    }
}
