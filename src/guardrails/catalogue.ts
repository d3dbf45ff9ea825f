import { blockedTerms } from './detectors/blocked-terms'
import { language } from './detectors/language'
import { maxLength } from './detectors/max-length'
import { pii } from './detectors/pii'
import { profanity } from './detectors/profanity'
import { regexMatch } from './detectors/regex-match'
import { secrets } from './detectors/secrets'
import { toolAllowlist } from './detectors/tool-allowlist'
import { urlAllowlist } from './detectors/url-allowlist'
import { GUARDRAIL_IDS, type Guardrail, type GuardrailId } from './guardrail'

const ALL: readonly Guardrail[] = [
  pii,
  secrets,
  profanity,
  blockedTerms,
  regexMatch,
  language,
  maxLength,
  urlAllowlist,
  toolAllowlist,
]

/** Every check, in the order of contract 12. */
export const GUARDRAILS: ReadonlyMap<GuardrailId, Guardrail> = new Map(
  GUARDRAIL_IDS.flatMap((id) => ALL.filter((one) => one.id === id).map((one) => [id, one] as const)),
)
