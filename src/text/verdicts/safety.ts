import { sentenceFeaturesOf } from './features'
import { type Likely, likeliest } from './likeliest'
import { modelOf } from './models'

/** The likeliest stretch of a text that is not ordinary, then that of each unsafe category in the order of LABELS. */
export const safetyOf = (text: string): Likely[] => likeliest(modelOf('safety'), sentenceFeaturesOf(text))
