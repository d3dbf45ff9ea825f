/** Text: functions that read texts, independent of tenants, rows and routes. */

export { readBrowsing, readInstruction, type Step } from './browsing-ask'
export { ExpressionFault, type Path, parseExpression, pathsOf } from './expression'
export { type InjectionFinding, scanForInjection } from './injection'
export { base64Runs } from './injection/base64'
export { meetingsIn } from './injection/concepts'
export { decodedPieces } from './injection/encoded'
export { readable } from './injection/readable'
export { joinLines, unwrapped } from './join-lines'
export { foreignTo, isLanguageCode, languageCodeOf, languageOf } from './languages-language-of'
export { type Model, packModel, readModel, type Shape, scoresOf, softmax } from './model'
export { PROMPT_SLOTS, promptFeaturesOf } from './model-prompt-features'
export { vendorMeantBy, vendorNamedIn } from './patterns/check'
export { CHECK_BUDGET_MS, createPatternChecks, type PatternCheck } from './patterns/checks'
export { compileLinear, type LinearPattern } from './patterns/linear'
export { demandsOf } from './patterns/look-ahead'
export { compilePattern, PatternRefused, type RulePattern } from './patterns/rule-pattern'
export { BUDGET_MS, createPatternWorker, type PatternWorker, type Trial } from './patterns/worker'
export { type PersonalData, personalDataFinder } from './personal-data-find'
export { ENTITIES, type Entity } from './personal-data-kind'
export { holdsCard } from './personal-data-numbers'
export { compileTerms, profanityFinder } from './profanity-find'
export { reading } from './reading'
export { between, remember } from './runs'
export { findSecrets, holdsSecret, isSecretName } from './secrets-find'
export { evaluate, fillIn, isTrue, placeholdersOf, type RunValues, TooMuchText, textsIn, written } from './template'
export {
  compileTopic,
  hitsOf,
  isAbout,
  SPACELESS,
  type Topic,
  type TopicWords,
  topicWordsOf,
  touches,
} from './topics-topic'
export { urlsBut } from './urls-but'
export { hostOf } from './urls-host'
export { attackChance, attackIn, commandChance, safetyOf, wishChance } from './verdicts/attack'
export { LABELS, loadModel } from './verdicts/models'

export { centralSentences, contentWords, isStopWord, sentencesOf } from './words'
