import { jailbreak, promptInjection } from './detectors/attack'
import { blockedTerms } from './detectors/blocked-terms'
import { contentSafety } from './detectors/content-safety'
import { groundedness } from './detectors/groundedness'
import { language } from './detectors/language'
import { maxLength } from './detectors/max-length'
import { pii } from './detectors/pii'
import { profanity } from './detectors/profanity'
import { regexMatch } from './detectors/regex-match'
import { secrets } from './detectors/secrets'
import { systemPromptLeak } from './detectors/system-prompt-leak'
import { toolAllowlist } from './detectors/tool-allowlist'
import { topicRestriction } from './detectors/topic-restriction'
import { urlAllowlist } from './detectors/url-allowlist'
import type { Guardrail, GuardrailId } from './guardrail'

/** In the order of contract 12. */
const ALL: readonly Guardrail[] = [
  promptInjection,
  jailbreak,
  pii,
  secrets,
  contentSafety,
  profanity,
  topicRestriction,
  blockedTerms,
  regexMatch,
  language,
  maxLength,
  urlAllowlist,
  toolAllowlist,
  systemPromptLeak,
  groundedness,
]

/** Every guardrail. Their tables and models are read from disk when a policy that needs them is compiled. */
export const GUARDRAILS: ReadonlyMap<GuardrailId, Guardrail> = new Map(ALL.map((one) => [one.id, one]))
