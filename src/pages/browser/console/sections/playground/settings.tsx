import { Choices, Select, Text } from '../../ui/controls'
import { Rows } from '../../ui/rows'
import { type Common, DOORS, type FunctionTool, type Server } from './doors'

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

type JsonProps = { label: string; value: string; onChange(value: string): void }

const JsonField = ({ label, value, onChange }: JsonProps) => (
  <Text
    label={label}
    problem={jsonProblem(value)}
    className="mono"
    rows={6}
    spellCheck={false}
    value={value}
    onChange={onChange}
  />
)

type Props = { value: Common; onChange(changes: Partial<Common>): void; refusal: string | null }

/** Settings of each prompt: the format of the call, and the options of that format. */
export function SettingsForm({ value, onChange, refusal }: Props) {
  const text = (name: 'system' | 'temperature' | 'iterations' | 'skills') => ({
    value: value[name],
    onChange: (next: string) => onChange({ [name]: next }),
  })
  return (
    <>
      <Choices label="Format of the call" value={value.door} choices={DOORS} onChange={(door) => onChange({ door })} />
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
        {value.door === 'completions' ? (
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
      {value.door !== 'completions' && value.format === 'schema' && (
        <JsonField label="JSON Schema" value={value.schema} onChange={(schema) => onChange({ schema })} />
      )}
      <Text label="Skills" help="Short names, separated by spaces." {...text('skills')} />
      <fieldset>
        <legend>Your functions</legend>
        <p className="help">A call to one is shown, and waits for the result that you type.</p>
        <Rows
          name="function"
          rows={value.tools}
          onChange={(tools) =>
            onChange({ tools, ...(value.door === 'completions' && tools.length ? { door: 'chat' } : {}) })
          }
          fresh={() => NEW_FUNCTION}
        >
          {(tool, set) => (
            <>
              <Text label="Name" value={tool.name} onChange={(text) => set({ name: text })} />
              <Text label="What it does" value={tool.description} onChange={(text) => set({ description: text })} />
              <JsonField label="Its arguments" value={tool.schema} onChange={(schema) => set({ schema })} />
            </>
          )}
        </Rows>
      </fieldset>
      <fieldset>
        <legend>MCP servers</legend>
        <p className="help">Their tools run by themselves when the engine calls them.</p>
        <Rows
          name="server"
          rows={value.servers}
          onChange={(servers) => onChange({ servers })}
          fresh={(): Server => ({ label: 'docs', url: '' })}
        >
          {(server, set) => (
            <div className="pair">
              <Text label="Label" help="Lower case." value={server.label} onChange={(text) => set({ label: text })} />
              <Text
                label="Address"
                type="url"
                placeholder="https://"
                value={server.url}
                onChange={(text) => set({ url: text })}
              />
            </div>
          )}
        </Rows>
      </fieldset>
    </>
  )
}
