import InferenceData
import Testing
