import { nullable, type Static, t } from '../../kernel/schema'
import { MAX_PATTERN_CHARS } from '../../text/schema'

/** Limits of contract 13. Exceeding one is answered with `routing_preference_invalid`. */
export const LIMITS = {
  rules: 50,
  examples: 30,
  patternChars: MAX_PATTERN_CHARS,
  promptChars: 1_024,
  ruleDescriptionChars: 512,
} as const
export const DEFAULT_CONFIDENCE = 0.9
/** The global floor: a stage with less confidence does not decide (contract 22.2, stage 5). */
export const DEFAULT_FLOOR = 0.85

/** A rule as it is sent. Errors that need the code `routing_preference_invalid` are checked in rules.ts instead. */
export const NewRule = t.Object(
  {
    pattern: t.String({ description: `ECMAScript source of at most ${LIMITS.patternChars} characters` }),
    target_mode: t.String(),
    target_engine: t.Optional(nullable(t.String({ description: 'An engine of GET /models' }))),
    confidence: t.Optional(t.Number({ description: 'Default 0.9; clamped to 0.5–0.99' })),
    description: t.Optional(nullable(t.String())),
  },
  { $id: 'NewRoutingRule' },
)
export type NewRule = Static<typeof NewRule>

export const NewExample = t.Object(
  {
    prompt: t.String({ description: `At most ${LIMITS.promptChars} characters` }),
    expected_mode: t.String(),
    expected_engine: t.Optional(nullable(t.String())),
  },
  { $id: 'NewRoutingExample' },
)
export type NewExample = Static<typeof NewExample>
