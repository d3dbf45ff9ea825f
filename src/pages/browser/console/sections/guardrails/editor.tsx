import { useState } from 'react'
import type { Evaluated, GuardrailCatalogue, GuardrailPolicy } from '../../../../../guardrails/schema'
import { Actions } from '../../shell/actions'
import { useCalls, useGet, useMay, useOwner } from '../../shell/api'
import { DOCS } from '../../shell/boot'
import { Form, unsaved } from '../../shell/form'
import { Button, Chip, Code, Field } from '../../ui/controls'
import { plural } from '../../ui/format'
import { Rows } from '../../ui/rows'
import { SchemaFields } from '../../ui/schema-fields'
import { Failed, type Problem, Shown } from '../../ui/states'

type Rule = { guardrail_id: string; phase: string; verdict: string; config: Record<string, unknown> }
type Guardrail = GuardrailCatalogue['guardrails'][number]

const TEMPLATES: Record<string, Rule[]> = {
  'Personal data': [
    { guardrail_id: 'pii', phase: 'input', verdict: 'redact', config: {} },
    { guardrail_id: 'pii', phase: 'output', verdict: 'redact', config: {} },
  ],
  Secrets: [
    { guardrail_id: 'secrets', phase: 'input', verdict: 'redact', config: {} },
    { guardrail_id: 'secrets', phase: 'output', verdict: 'block', config: {} },
  ],
  Injection: [
    { guardrail_id: 'prompt_injection', phase: 'input', verdict: 'block', config: {} },
    { guardrail_id: 'prompt_injection', phase: 'tool_result', verdict: 'flag', config: {} },
  ],
}
const PHASES = { input: 'prompt', output: 'answer', tool_call: 'tool call', tool_result: 'tool result' } as const

/** A policy with its rules in order, and a text to try them on. */
export function PolicyEditor({ of, close }: { of: GuardrailPolicy | null; close(): void }) {
  const catalogue = useGet<GuardrailCatalogue>('/guardrails')
  return (
    <Shown of={catalogue} docs={DOCS}>
      {({ guardrails }) => <Editor of={of} close={close} guardrails={guardrails} />}
    </Shown>
  )
}

function Editor({ of, close, guardrails }: { of: GuardrailPolicy | null; close(): void; guardrails: Guardrail[] }) {
  const owner = useOwner()
  const may = useMay('manageWebhooks')
  const [rules, setRules] = useState<Rule[]>(() => of?.rules.map((rule) => ({ ...rule })) ?? [])
  const path = of ? `/guardrail-policies/${of.id}` : '/guardrail-policies'
  const change = (next: Rule[]) => {
    unsaved.set(true)
    setRules(next)
  }
  const find = (id: string) => guardrails.find(({ guardrail_id }) => guardrail_id === id) ?? guardrails[0]!
  return (
    <div className="editor">
      <div className="editor-main">
        <Form
          fields={[
            { name: 'name', label: 'Name', required: true },
            { name: 'description', label: 'What it is for', empty: 'null' },
            {
              name: 'is_default',
              label: 'Use it for every key without one of its own',
              kind: 'check',
              help: of ? `Bound to ${plural(of.bound_key_count, 'key')}.` : 'Another default stops being it.',
            },
          ]}
          values={of}
          method={of ? 'PATCH' : 'POST'}
          path={path}
          touches={['/guardrail-policies', '/keys']}
          verb={of ? 'Save' : 'Create policy'}
          more={(body) => ({ ...body, rules, ...(of ? {} : { scope: owner.id ? 'team' : 'personal' }) })}
          disabled={may ? undefined : `Your role ${owner.role} cannot change this. Ask an owner or admin.`}
          onCancel={of ? undefined : close}
          onDone={of ? undefined : close}
        >
          <h3>Rules</h3>
          <p className="faint">They run in this order. The first that blocks ends its phase.</p>
          {rules.length === 0 && (
            <div className="actions">
              {Object.entries(TEMPLATES).map(([name, template]) => (
                <Button key={name} onClick={() => change(template)}>
                  {name}
                </Button>
              ))}
            </div>
          )}
          <Rows
            name="rule"
            rows={rules}
            onChange={change}
            fresh={() => {
              const { guardrail_id, phases, verdicts } = guardrails[0]!
              return { guardrail_id, phase: phases[0]!, verdict: verdicts[0]!, config: {} }
            }}
          >
            {(rule, set) => {
              const { description, phases, verdicts, config_schema } = find(rule.guardrail_id)
              const choose = (guardrail_id: string) => {
                const next = find(guardrail_id)
                const phase = next.phases.find((it) => it === rule.phase) ?? next.phases[0]!
                const verdict = next.verdicts.find((it) => it === rule.verdict) ?? next.verdicts[0]!
                set({ guardrail_id, phase, verdict, config: {} })
              }
              return (
                <>
                  <div className="pair">
                    <Pick
                      label="Guardrail"
                      value={rule.guardrail_id}
                      values={guardrails.map(({ guardrail_id: id }) => [id, id.replaceAll('_', ' ')])}
                      onChange={choose}
                    />
                    <Pick
                      label="Checks the"
                      value={rule.phase}
                      values={phases.map((phase) => [phase, PHASES[phase]])}
                      onChange={(phase) => set({ phase })}
                    />
                    <Pick
                      label="Then"
                      value={rule.verdict}
                      values={verdicts.map((verdict) => [verdict, verdict])}
                      onChange={(verdict) => set({ verdict })}
                    />
                  </div>
                  <p className="faint">{description}</p>
                  <SchemaFields schema={config_schema} value={rule.config} onChange={(config) => set({ config })} />
                </>
              )
            }}
          </Rows>
        </Form>
        {of && (
          <Actions
            touches={['/guardrail-policies', '/keys']}
            permission="manageWebhooks"
            actions={[
              {
                label: 'Delete…',
                method: 'DELETE',
                path,
                danger: true,
                ask: `${plural(of.bound_key_count, 'key')} lose this policy. This cannot be undone.`,
                done: close,
              },
            ]}
          />
        )}
      </div>
      {of ? (
        <Try id={of.id} />
      ) : (
        <section className="card part try">
          <h3>Try a text</h3>
          <p className="faint">
            Save the policy first; until a key is bound to it or it is the default it does nothing.
          </p>
        </section>
      )}
    </div>
  )
}

type PickProps = {
  label: string
  value: string
  values: readonly (readonly [string, string])[]
  onChange(value: string): void
}

const Pick = ({ label, value, values, onChange }: PickProps) => (
  <Field label={label}>
    {(props) => (
      <select {...props} value={value} onChange={({ target }) => onChange(target.value)}>
        {values.map(([id, text]) => (
          <option key={id} value={id}>
            {text}
          </option>
        ))}
      </select>
    )}
  </Field>
)

/** One text, checked by the policy as it is saved. */
function Try({ id }: { id: string }) {
  const calls = useCalls()
  const [text, setText] = useState('')
  const [phase, setPhase] = useState('input')
  const [found, setFound] = useState<Evaluated | null>(null)
  const [problem, setProblem] = useState<Problem | null>(null)
  const run = () =>
    calls.json<Evaluated>('POST', `/guardrail-policies/${id}/evaluate`, { body: { text, phase } }).then(
      (answer) => {
        setProblem(null)
        setFound(answer)
      },
      (error: Problem) => setProblem(error),
    )
  return (
    <section className="card part try" aria-labelledby="try">
      <h3 id="try">Try a text</h3>
      <form
        className="form"
        onSubmit={(event) => {
          event.preventDefault()
          void run()
        }}
      >
        <Pick label="As" value={phase} values={Object.entries(PHASES)} onChange={setPhase} />
        <Field label="Text to check" help="The rules as they are saved are tried.">
          {(props) => (
            <textarea {...props} rows={4} required value={text} onChange={({ target }) => setText(target.value)} />
          )}
        </Field>
        <div className="actions">
          <Button type="submit">Check it</Button>
        </div>
      </form>
      {problem && <Failed problem={problem} docs={DOCS} />}
      <div role="status">
        {found && (
          <>
            {found.results.length === 0 && <p>No rule checks this.</p>}
            <ul className="plain-list">
              {found.results.map(({ guardrail_id, verdict, triggered, detail }, at) => (
                // biome-ignore lint/suspicious/noArrayIndexKey: a result is its place
                <li key={at}>
                  {triggered ? (
                    <Chip state={verdict === 'block' ? 'bad' : 'warn'}>{verdict}</Chip>
                  ) : (
                    <Chip state="good">passed</Chip>
                  )}
                  <span>
                    {guardrail_id.replaceAll('_', ' ')}
                    <small>{detail}</small>
                  </span>
                  <span />
                </li>
              ))}
            </ul>
            <Code text={found.text} label="what is left of the text" />
          </>
        )}
      </div>
    </section>
  )
}
