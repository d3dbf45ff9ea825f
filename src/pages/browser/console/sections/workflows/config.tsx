import type { StepType } from '../../../../../automation/workflows-schema'
import type { ModelList } from '../../../../../engines/schema'
import { useGet } from '../../shell/api'
import { MODES } from '../../shell/modes'
import { Fields, type FormField, JsonField } from '../../ui/fields'

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
const MESSAGE: FormField = { name: 'message', label: 'What the person is asked', ...area, required: true }
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
    { name: 'prompt', label: 'Prompt', ...area, required: true, help: PLACEHOLDERS },
    { name: 'mode', label: 'Mode', kind: 'choice', choices: [['', 'chosen for the prompt'], ...MODES.map(alike)] },
    TEMPERATURE,
  ],
  notification: [
    {
      name: 'channel',
      label: 'By',
      kind: 'choice',
      choices: { in_app: 'an event in this console', email: 'e-mail', webhook: 'a call to an address' },
    },
    { name: 'to', label: 'To', required: true, help: 'An address, or me.' },
    { name: 'subject', label: 'Subject' },
    { name: 'body', label: 'Text', ...area, help: PLACEHOLDERS },
  ],
  http: [
    { name: 'url', label: 'Address', required: true, help: WEB_ADDRESS },
    { name: 'method', label: 'Method', kind: 'choice', choices: METHODS },
    { name: 'timeout_seconds', label: 'Seconds to wait', kind: 'number', min: 1, max: 30 },
    { name: 'body', label: 'Body', ...area },
  ],
  condition: [{ name: 'expression', label: 'True if', required: true, isCode: true, help: CONDITION }],
  delay: [
    { name: 'seconds', label: 'Seconds', kind: 'number', min: 1, max: 86_400 },
    { name: 'until', label: 'Or until', help: 'A time such as 2026-12-24T18:00:00Z.' },
  ],
  approval: [
    MESSAGE,
    {
      name: 'timeout_minutes',
      label: 'Minutes to wait',
      kind: 'number',
      min: 1,
      max: 43_200,
      help: 'Empty: 24 hours.',
    },
    { name: 'on_timeout', label: 'Then', kind: 'choice', choices: { reject: 'reject', approve: 'approve' } },
  ],
  skill: [
    { name: 'slug', label: 'Skill', required: true, help: 'Its short name, as under Skills.' },
    { name: 'input', label: 'What it is asked', ...area, required: true, help: PLACEHOLDERS },
  ],
  tool: [
    { name: 'name', label: 'Tool', required: true, help: 'Of this server, or of an installed skill.' },
    { name: 'arguments', label: 'Arguments, as JSON', kind: 'json', rows: 3 },
  ],
  event: [
    { name: 'eventType', label: 'Event', required: true, help: 'Words joined by dots, such as order.checked.' },
    { name: 'payload', label: 'Payload, as JSON', kind: 'json', rows: 3 },
  ],
  transform: [{ name: 'template', label: 'Result', ...area, help: PLACEHOLDERS }],
  output: [
    { name: 'format', label: 'Format', kind: 'choice', choices: FORMATS },
    { name: 'template', label: 'Answer', ...area, help: PLACEHOLDERS },
  ],
  input: [
    {
      name: 'triggerType',
      label: 'Starts',
      kind: 'choice',
      choices: { manual: 'by call', keyword: 'by a word', event: 'by event', schedule: 'by time' },
    },
  ],
  prompt: [{ name: 'content', label: 'Instructions', ...area, required: true }],
  model: [{ name: 'modelId', label: 'Engine', kind: 'choice' }, TEMPERATURE],
  knowledge: [
    { name: 'fileKeys', label: 'Names of its files', kind: 'lines', rows: 2, help: 'One per line: knowledge/faq.md' },
    { name: 'files', label: 'Their texts, as JSON', kind: 'json' },
  ],
  vision: [
    {
      name: 'source',
      label: 'Picture',
      kind: 'choice',
      choices: { upload: 'sent with the call', url: 'at an address', step: 'of a step before' },
    },
    { name: 'instructions', label: 'What to say about it', ...area, required: true },
  ],
}
function alike(value: string): readonly [string, string] {
  return [value, value.replaceAll('_', ' ')]
}

/** What else is to be known, by what is chosen. */
const MORE: Record<string, FormField> = {
  keyword: { name: 'keywords', label: 'Words', kind: 'lines', rows: 2, help: 'One per line.' },
  event: { name: 'eventPattern', label: 'Event', help: 'Such as order.created or order.*' },
  schedule: { name: 'cron', label: 'Times', help: 'Such as 0 9 * * 1-5: at 9 on working days.' },
  url: { name: 'url', label: 'Its address', help: WEB_ADDRESS },
  step: { name: 'step', label: 'The step' },
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
