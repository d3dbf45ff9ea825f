import type { StepType } from '../../../../../automation/workflows-schema'
import type { ModelList } from '../../../../../engines/schema'
import { useGet } from '../../shell/api'
import { MODES } from '../../shell/modes'
import { Fields, type FormField, field, JsonField } from '../../ui/fields'

/** The kinds of nodes in a canvas that are no steps of a workflow. */
const NODES = ['input', 'prompt', 'model', 'knowledge', 'vision'] as const
export type Kind = StepType | (typeof NODES)[number]
type Config = Record<string, unknown>

/** The kinds of steps, as readers choose them. */
export const KINDS: Record<StepType, string> = {
  ai_transform: 'Ask an engine',
  skill: 'Run a skill',
  tool: 'Use a tool',
  http: 'Call an address',
  notification: 'Notify',
  approval: 'Ask a person',
  condition: 'Decide',
  delay: 'Wait',
  event: 'Publish an event',
  transform: 'Rearrange data',
  output: 'Answer',
}

const area = { kind: 'area', rows: 3 } as const
const MESSAGE = field('message', 'What the person is asked', { ...area, required: true })
const PLACEHOLDERS = 'Use {{trigger.text}} for the input, and {{steps.0.output.text}} for the answer of the first step.'
const WEB_ADDRESS = 'Starts with https://.'
const CONDITION = 'Such as trigger.amount > 100, or steps.0.output.text contains "urgent".'
const FORMATS = { '': 'as usual', text: 'text', json: 'JSON', markdown: 'Markdown', file: 'a file' }
const METHODS = [
  ['', 'POST with a body, else GET'],
  ...['GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'HEAD'].map(alike),
] as const
const TEMPERATURE: FormField = {
  ...{ name: 'temperature', label: 'Temperature', kind: 'number', min: 0, max: 2, step: 0.1 },
  help: "0 to 2. Empty: the engine's default.",
}

/** The fields of each kind of step and node. Members without a field are edited as JSON. */
const FIELDS: Record<Kind, readonly FormField[]> = {
  ai_transform: [
    field('prompt', 'Prompt', { ...area, required: true, help: PLACEHOLDERS }),
    field('mode', 'Mode', { kind: 'choice', choices: [['', 'chosen for the prompt'], ...MODES.map(alike)] }),
    TEMPERATURE,
  ],
  notification: [
    field('channel', 'By', {
      kind: 'choice',
      choices: { in_app: 'an event in this console', email: 'e-mail', webhook: 'a call to an address' },
    }),
    field('to', 'To', { required: true, help: 'An address, or me.' }),
    field('subject', 'Subject'),
    field('body', 'Text', { ...area, help: PLACEHOLDERS }),
  ],
  http: [
    field('url', 'Address', { required: true, help: WEB_ADDRESS }),
    field('method', 'Method', { kind: 'choice', choices: METHODS }),
    field('timeout_seconds', 'Seconds to wait', { kind: 'number', min: 1, max: 30 }),
    field('body', 'Body', area),
  ],
  condition: [field('expression', 'True if', { required: true, isCode: true, help: CONDITION })],
  delay: [
    field('seconds', 'Seconds', { kind: 'number', min: 1, max: 86_400 }),
    field('until', 'Or until', { help: 'A time such as 2026-12-24T18:00:00Z.' }),
  ],
  approval: [
    MESSAGE,
    field('timeout_minutes', 'Minutes to wait', { kind: 'number', min: 1, max: 43_200, help: 'Empty: 24 hours.' }),
    field('on_timeout', 'Then', { kind: 'choice', choices: { reject: 'reject', approve: 'approve' } }),
  ],
  skill: [
    field('slug', 'Skill', { required: true, help: 'Its short name, as under Skills.' }),
    field('input', 'What it is asked', { ...area, required: true, help: PLACEHOLDERS }),
  ],
  tool: [
    field('name', 'Tool', { required: true, help: 'Of this server, or of an installed skill.' }),
    field('arguments', 'Arguments, as JSON', { kind: 'json', rows: 3 }),
  ],
  event: [
    field('eventType', 'Event', { required: true, help: 'Words joined by dots, such as order.checked.' }),
    field('payload', 'Payload, as JSON', { kind: 'json', rows: 3 }),
  ],
  transform: [field('template', 'Result', { ...area, help: PLACEHOLDERS })],
  output: [
    field('format', 'Format', { kind: 'choice', choices: FORMATS }),
    field('template', 'Answer', { ...area, help: PLACEHOLDERS }),
  ],
  input: [
    field('triggerType', 'Starts', {
      kind: 'choice',
      choices: { manual: 'by call', keyword: 'by a word', event: 'by event', schedule: 'by time' },
    }),
  ],
  prompt: [field('content', 'Instructions', { ...area, required: true })],
  model: [field('modelId', 'Engine', { kind: 'choice' }), TEMPERATURE],
  knowledge: [
    field('fileKeys', 'Names of its files', { kind: 'lines', rows: 2, help: 'One per line: knowledge/faq.md' }),
    field('files', 'Their texts, as JSON', { kind: 'json' }),
  ],
  vision: [
    field('source', 'Picture', {
      kind: 'choice',
      choices: { upload: 'sent with the call', url: 'at an address', step: 'of a step before' },
    }),
    field('instructions', 'What to say about it', { ...area, required: true }),
  ],
}
function alike(value: string): readonly [string, string] {
  return [value, value.replaceAll('_', ' ')]
}

/** What else is to be known, by what is chosen. */
const MORE: Record<string, FormField> = {
  keyword: field('keywords', 'Words', { kind: 'lines', rows: 2, help: 'One per line.' }),
  event: field('eventPattern', 'Event', { help: 'Such as order.created or order.*' }),
  schedule: field('cron', 'Times', { help: 'Such as 0 9 * * 1-5: at 9 on working days.' }),
  url: field('url', 'Its address', { help: WEB_ADDRESS }),
  step: field('step', 'The step'),
}

/** The settings of a step or node: a field for each, and JSON for the rest. */
export function ConfigFields({ kind, value, onChange }: { kind: Kind; value: Config; onChange(config: Config): void }) {
  const models = useGet<ModelList>('/models', {}, { off: kind !== 'model' })
  const engines = models.data?.models.map(({ model_id }) => model_id) ?? []
  const more = MORE[String(value.triggerType ?? value.source)]
  const fields = [...(FIELDS[kind] ?? []), ...(more ? [more] : [])].map((field): FormField => {
    const given = value[field.name]
    // A text can also be any JSON, which then keeps its form.
    if (field.kind === 'area' && given !== undefined && typeof given !== 'string')
      return { ...field, kind: 'json', label: `${field.label}, as JSON` }
    return field.name === 'modelId' ? { ...field, choices: engines } : field
  })
  const named = fields.map(({ name }) => name)
  const rest = Object.entries(value).filter(([name]) => !named.includes(name))
  const own = Object.entries(value).filter(([name]) => named.includes(name))
  return (
    <>
      <Fields of={fields} value={value} onChange={(changes) => onChange({ ...value, ...changes })} />
      {(rest.length > 0 || fields.length === 0) && (
        <JsonField
          label="More settings, as JSON"
          rows={3}
          value={Object.fromEntries(rest)}
          onChange={(other) => onChange({ ...Object.fromEntries(own), ...((other ?? {}) as Config) })}
        />
      )}
    </>
  )
}
