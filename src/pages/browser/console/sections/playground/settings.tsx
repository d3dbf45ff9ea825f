import { Choices, Select, Text } from '../../ui/controls'
import { Fields, type FormField, field } from '../../ui/fields'
import { Rows } from '../../ui/rows'
import { APIS, type Common, type FunctionTool, type Server } from './apis'

const NEW_FUNCTION: FunctionTool = {
  name: 'get_weather',
  description: 'The weather of a city, now.',
  schema: JSON.stringify({ type: 'object', properties: { city: { type: 'string' } }, required: ['city'] }, null, 2),
}
const NEW_SCHEMA = JSON.stringify(
  { type: 'object', properties: { answer: { type: 'string' } }, required: ['answer'] },
  null,
  2,
)
const FORMATS = { text: 'Text', json: 'JSON', schema: 'JSON schema' }

const jsonProblem = (text: string): string | undefined => {
  try {
    JSON.parse(text)
  } catch (error) {
    return `This is not JSON yet: ${(error as Error).message}`
  }
}

const json = { kind: 'area', isCode: true, rows: 6, problemOf: jsonProblem, empty: 'text' } as const
const SCHEMA: readonly FormField[] = [field('schema', 'JSON Schema', json)]
const FUNCTION: readonly FormField[] = [
  field('name', 'Name', { empty: 'text' }),
  field('description', 'What it does', { empty: 'text' }),
  field('schema', 'Its arguments', json),
]
const SERVER: readonly FormField[] = [
  field('label', 'Label', { help: 'Lower case.', empty: 'text' }),
  field('url', 'Address', { help: 'Starts with https://.', empty: 'text' }),
]

type Props = { value: Common; onChange(changes: Partial<Common>): void; refusal: string | null }

/** Settings of each prompt: the API of the call, and the options of that API. */
export function SettingsForm({ value, onChange, refusal }: Props) {
  const text = (name: 'system' | 'temperature' | 'iterations' | 'skills') => ({
    value: value[name],
    onChange: (next: string) => onChange({ [name]: next }),
  })
  return (
    <>
      <Choices isNamed label="API" value={value.api} choices={APIS} onChange={(api) => onChange({ api })} />
      {refusal && (
        <p className="problem" role="status">
          {refusal}
        </p>
      )}
      <Text label="System prompt" {...text('system')} rows={3} placeholder="You are a patient teacher." />
      <div className="pair">
        <Text
          {...{ label: 'Temperature', type: 'number', min: 0, max: 2, step: 0.1 }}
          help="0 to 2. Empty: the engine's default."
          {...text('temperature')}
        />
        {value.api === 'completions' ? (
          <Text
            {...{ label: 'Maximum tool turns', type: 'number', min: 1, max: 20 }}
            help="1 to 20. Empty: the server's default."
            {...text('iterations')}
          />
        ) : (
          <Select
            label="Answer"
            value={value.format}
            choices={FORMATS}
            onChange={(format) => onChange({ format: format as Common['format'], schema: value.schema || NEW_SCHEMA })}
          />
        )}
      </div>
      {value.api !== 'completions' && value.format === 'schema' && (
        <Fields of={SCHEMA} value={value} onChange={onChange} />
      )}
      <Text label="Skills" help="Short names, separated by spaces." {...text('skills')} />
      <fieldset>
        <legend>Your functions</legend>
        <p className="help">A call to one is shown, and waits for the result that you type.</p>
        <Rows
          name="function"
          rows={value.tools}
          onChange={(tools) =>
            onChange({ tools, ...(value.api === 'completions' && tools.length ? { api: 'chat' } : {}) })
          }
          fresh={() => NEW_FUNCTION}
          fields={FUNCTION}
        />
      </fieldset>
      <fieldset>
        <legend>MCP servers</legend>
        <p className="help">Their tools run by themselves when the engine calls them.</p>
        <Rows
          name="server"
          rows={value.servers}
          onChange={(servers) => onChange({ servers })}
          fresh={(): Server => ({ label: 'docs', url: '' })}
          fields={SERVER}
        />
      </fieldset>
    </>
  )
}
