import { useState } from 'react'
import { Link } from 'wouter'
import type { Evaluated, GuardrailCatalogue, GuardrailPolicy } from '../../../../../guardrails/schema'
import { useCalls, useGet, useOwner } from '../../shell/api'
import { unsaved } from '../../shell/form'
import { RuleSetEditor, TryPanel } from '../../shell/rule-set'
import { useHanded } from '../../shell/value'
import { Chip, Code, Select, StartWith, Text } from '../../ui/controls'
import { Lines } from '../../ui/facts'
import { SchemaFields } from '../../ui/fields'
import { Rows } from '../../ui/rows'
import { Shown } from '../../ui/states'

type Rule = { guardrail_id: string; phase: string; verdict: string; config: Record<string, unknown> }
type Guardrail = GuardrailCatalogue['guardrails'][number]
type Props = { row?: GuardrailPolicy; close(): void }

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
export const PHASES = { input: 'prompt', output: 'answer', tool_call: 'tool call', tool_result: 'tool result' } as const

/** A policy with its ordered rules, and a text to try them on. */
export function PolicyEditor(props: Props) {
  const catalogue = useGet<GuardrailCatalogue>('/guardrails')
  return <Shown of={catalogue}>{({ guardrails }) => <Editor {...props} guardrails={guardrails} />}</Shown>
}

function Editor({ row: of, close, guardrails }: Props & { guardrails: Guardrail[] }) {
  const owner = useOwner()
  const [rules, setRules] = useState<Rule[]>(() => of?.rules.map((rule) => ({ ...rule })) ?? [])
  const change = (next: Rule[]) => {
    unsaved.set(true)
    setRules(next)
  }
  const find = (id: string) => guardrails.find(({ guardrail_id }) => guardrail_id === id) ?? guardrails[0]!
  return (
    <div className="editor">
      <RuleSetEditor of={of} list="/guardrail-policies" what="policy" more={{ rules }} close={close}>
        <h3>Rules</h3>
        <p className="faint">They run in this order. The first that blocks ends its phase.</p>
        {rules.length === 0 && <StartWith of={TEMPLATES} onChoose={change} />}
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
                  <Select
                    label="Guardrail"
                    value={rule.guardrail_id}
                    choices={guardrails.map(({ guardrail_id: id }) => [id, id.replaceAll('_', ' ')] as const)}
                    onChange={choose}
                  />
                  <Select
                    label="Checks the"
                    value={rule.phase}
                    choices={phases.map((phase) => [phase, PHASES[phase]] as const)}
                    onChange={(phase) => set({ phase })}
                  />
                  <Select
                    label="Then"
                    value={rule.verdict}
                    choices={verdicts}
                    onChange={(verdict) => set({ verdict })}
                  />
                </div>
                <p className="faint">
                  {description.replaceAll('`', '')}{' '}
                  {of && (
                    <Link href={`/${owner.slug}/requests?guardrail=${rule.guardrail_id}`}>Requests where it fired</Link>
                  )}
                </p>
                <SchemaFields schema={config_schema} value={rule.config} onChange={(config) => set({ config })} />
              </>
            )
          }}
        </Rows>
      </RuleSetEditor>
      <div className="try">
        <Try id={of?.id} rules={rules} />
      </div>
    </div>
  )
}

/** Checks one text with the rules in the form. */
function Try({ id = 'preview', rules }: { id: string | undefined; rules: Rule[] }) {
  const calls = useCalls()
  // A request with a wrong verdict passes its text and phase to this form.
  const begun = useHanded() as { text?: string; phase?: string } | null
  const [text, setText] = useState(begun?.text ?? '')
  const [phase, setPhase] = useState(begun?.phase ?? 'input')
  const path = `/guardrail-policies/${id === 'preview' ? id : `${id}/evaluate`}`
  return (
    <TryPanel
      title="Try a text"
      verb="Check it"
      run={() => calls.json<Evaluated>('POST', path, { body: { text, phase, rules } })}
      fields={
        <>
          <Select label="As" value={phase} choices={PHASES} onChange={setPhase} />
          <Text
            {...{ label: 'Text to check', rows: 4, required: true, value: text, onChange: setText }}
            help="The rules beside it are tried, saved or not."
          />
        </>
      }
    >
      {(found) => (
        <>
          <Lines
            of={found.results.map((result, at) => ({ ...result, key: `${at}` }))}
            empty="No rule checks this."
            line={({ key, guardrail_id, verdict, triggered, detail }) => ({
              key,
              mark: (
                <Chip state={!triggered ? 'good' : verdict === 'block' ? 'bad' : 'warn'}>
                  {triggered ? verdict : 'passed'}
                </Chip>
              ),
              text: guardrail_id.replaceAll('_', ' '),
              small: detail,
            })}
          />
          <Code text={found.text} label="what is left of the text" />
        </>
      )}
    </TryPanel>
  )
}
