import { nullable, oneOf, type Static, t } from '../../kernel/schema'
import { NewRule } from './schema-rule'

/** Body of `POST /routing-preferences/preview`. */
export const PreviewInput = t.Object(
  {
    prompt: t.String({ minLength: 1, maxLength: 1_000_000 }),
    routing_preference_id: t.Optional(
      nullable(
        t.String({ maxLength: 64, description: 'Preference to use instead of the one that applies to you or the key' }),
      ),
    ),
    key_id: t.Optional(
      t.String({ maxLength: 64, description: 'Key you own or manage; the preview is made as for its requests' }),
    ),
    rules: t.Optional(
      t.Array(NewRule, {
        description: 'Rules to try, checked before those of the preference or whatever else applies',
      }),
    ),
    attachments: t.Optional(
      t.Array(t.Unknown(), {
        maxItems: 10,
        description: 'Only the presence of attachments matters; their content is ignored',
      }),
    ),
    engine: t.Optional(
      t.Boolean({ description: 'true: also ask the engine classifier where a run would; default false' }),
    ),
  },
  { $id: 'RoutingPreviewOrder' },
)
export type PreviewInput = Static<typeof PreviewInput>

const SOURCES = ['rule', 'heuristic', 'local', 'classifier', 'default'] as const

export const Preview = t.Object(
  {
    resolved_mode: t.String(),
    confidence: nullable(t.Number()),
    source: oneOf(SOURCES),
    engine: t.String(),
    reasoning: nullable(t.String()),
    stages: t.Array(
      t.Object({
        stage: oneOf(SOURCES),
        mode: nullable(t.String({ description: 'Mode the stage proposes, even if its confidence is below the floor' })),
        confidence: nullable(t.Number()),
        floor: nullable(t.Number({ description: 'Confidence the mode needs to be chosen' })),
        matched: nullable(t.String({ description: 'Pattern or signal that matched' })),
        ms: t.Number(),
      }),
    ),
    warnings: t.Optional(
      t.Array(
        t.String({ description: 'For example, that a guardrail first removes parts of the prompt, or blocks it' }),
      ),
    ),
  },
  { $id: 'RoutingPreview' },
)
export type Preview = Static<typeof Preview>
