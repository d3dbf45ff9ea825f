import { nullable, oneOf, type Static, t } from '../kernel/schema'
import { NewRule } from './schema-rule'

/** Body of `POST /routing-preferences/preview`. */
export const PreviewOrder = t.Object(
  {
    prompt: t.String({ minLength: 1, maxLength: 1_000_000 }),
    routing_preference_id: t.Optional(
      nullable(t.String({ maxLength: 64, description: 'Instead of what is in force for you' })),
    ),
    key_id: t.Optional(
      t.String({ maxLength: 64, description: 'A key you own or manage: as it would be for its requests' }),
    ),
    rules: t.Optional(
      t.Array(NewRule, { description: 'Rules to try, asked before those of the preference or of what is in force' }),
    ),
    attachments: t.Optional(t.Array(t.Unknown(), { maxItems: 10, description: 'Only whether there are any counts' })),
    engine: t.Optional(
      t.Boolean({ description: 'Also ask the engine classifier where it would be asked; false unless sent' }),
    ),
  },
  { $id: 'RoutingPreviewOrder' },
)
export type PreviewOrder = Static<typeof PreviewOrder>

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
        mode: nullable(t.String({ description: 'What the stage takes the prompt for, sure enough or not' })),
        confidence: nullable(t.Number()),
        floor: nullable(t.Number({ description: 'What the confidence has to reach for this mode' })),
        matched: nullable(t.String({ description: 'The pattern or the signal that did' })),
        ms: t.Number(),
      }),
    ),
    warnings: t.Optional(
      t.Array(t.String({ description: 'Such as that a guardrail takes parts out of the prompt first, or blocks it' })),
    ),
  },
  { $id: 'RoutingPreview' },
)
export type Preview = Static<typeof Preview>
