import { MODES } from '../../../completions/schema'
import { checker, JsonObject, oneOf, type Static, type TSchema, t } from '../../../kernel/schema'
import { Manifest } from '../../../skills/schema'
import { HEADER_NAME, HEADER_VALUE } from '../../../tools'
import type { StepType } from '../schema'

const Text = t.String({ minLength: 1, maxLength: 100_000, pattern: '\\S' })
const Word = t.String({ minLength: 1, maxLength: 128 })
const Place = t.Integer({ minimum: 0 })
const Url = t.String({ minLength: 1, maxLength: 2_048 })
const Headers = t.Record(t.String({ pattern: HEADER_NAME }), t.String({ maxLength: 8_192, pattern: HEADER_VALUE }), {
  maxProperties: 32,
  additionalProperties: false,
})
const Moment = t.String({ format: 'date-time' })

const completion = {
  skills: t.Optional(t.Array(Word, { maxItems: 20 })),
  mode: t.Optional(oneOf(MODES)),
  model: t.Optional(Word),
  persona: t.Optional(
    t.Union([
      t.Object({ system_prompt: t.String({ minLength: 1, maxLength: 20_000 }) }),
      oneOf(['svc', 'none'] as const),
    ]),
  ),
  temperature: t.Optional(t.Number({ minimum: 0, maximum: 2 })),
}

/** The config of each kind of step, with its placeholders filled in (contract 10). */
const CONFIGS = {
  ai_transform: t.Object({
    prompt: Text,
    ...completion,
    output_schema: t.Optional(JsonObject),
    attachments: t.Optional(t.Array(JsonObject, { maxItems: 10 })),
  }),
  notification: t.Object({
    channel: oneOf(['email', 'webhook', 'in_app'] as const),
    to: t.String({ minLength: 1, maxLength: 2_048 }),
    subject: t.Optional(t.String({ maxLength: 500 })),
    body: t.Optional(t.String({ maxLength: 100_000 })),
  }),
  http: t.Object({
    url: Url,
    method: t.Optional(oneOf(['GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'HEAD'] as const)),
    headers: t.Optional(Headers),
    body: t.Optional(t.Unknown()),
    timeout_seconds: t.Optional(t.Number({ minimum: 1, maximum: 30 })),
  }),
  condition: t.Object({
    expression: t.String({ minLength: 1, maxLength: 2_000 }),
    onTrue: t.Optional(Place),
    onFalse: t.Optional(Place),
  }),
  delay: t.Object({
    seconds: t.Optional(t.Number({ minimum: 1, maximum: 86_400 })),
    until: t.Optional(Moment),
  }),
  approval: t.Object({
    message: Text,
    approvers: t.Optional(t.Array(t.String({ format: 'uuid' }), { minItems: 1, maxItems: 50 })),
    timeout_minutes: t.Optional(t.Number({ minimum: 1, maximum: 43_200 })),
    on_timeout: t.Optional(oneOf(['reject', 'approve'] as const)),
  }),
  skill: t.Object({ slug: Word, input: Text }),
  tool: t.Object({
    name: Word,
    arguments: t.Optional(JsonObject),
    /** What a tool is that neither this server nor an installed skill has. */
    tool: t.Optional(t.Omit(Manifest.properties.tools.items, ['name'])),
  }),
  event: t.Object({ eventType: Word, payload: t.Optional(t.Unknown()) }),
  transform: t.Object({ template: t.Unknown() }),
  output: t.Object({
    format: t.Optional(oneOf(['text', 'json', 'markdown', 'file'] as const)),
    template: t.Optional(t.Unknown()),
  }),
} as const satisfies Record<StepType, TSchema>

export type ConfigOf<Type extends StepType> = Static<(typeof CONFIGS)[Type]>

export const CHECKS = new Map(Object.entries(CONFIGS).map(([type, schema]) => [type as StepType, checker(schema)]))

/** Members that are read as they are written. */
export const UNFILLED: Partial<Record<StepType, readonly string[]>> = {
  condition: ['expression', 'onTrue', 'onFalse'],
  ai_transform: ['output_schema'],
  tool: ['tool'],
}
