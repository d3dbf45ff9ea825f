import { useState } from 'react'
import type { Preference, Preview } from '../../../../../routing/schema'
import { Actions } from '../../shell/actions'
import { useCalls, useMay, useOwner } from '../../shell/api'
import { DOCS } from '../../shell/boot'
import { Form, unsaved } from '../../shell/form'
import { Button, Chip, Field } from '../../ui/controls'
import { duration, percent, plural } from '../../ui/format'
import { Rows } from '../../ui/rows'
import { Failed, type Problem } from '../../ui/states'
import { MODES } from './modes'

type Rule = { pattern: string; target_mode: string; confidence: number; description: string }
type Example = { prompt: string; expected_mode: string }

/** A preference with its rules and examples, and a prompt to try them on before they are saved. */
export function PreferenceEditor({ of, close }: { of: Preference | null; close(): void }) {
  const owner = useOwner()
  const may = useMay('manageWebhooks')
  const [rules, setRules] = useState<Rule[]>(
    () => of?.rules.map((rule) => ({ ...rule, description: rule.description ?? '' })) ?? [],
  )
  const [examples, setExamples] = useState<Example[]>(() => of?.examples.map((it) => ({ ...it })) ?? [])
  const changed =
    <T,>(set: (value: T) => void) =>
    (value: T) => {
      unsaved.set(true)
      set(value)
    }
  const path = of ? `/routing-preferences/${of.id}` : '/routing-preferences'
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
          touches={['/routing-preferences', '/keys']}
          verb={of ? 'Save' : 'Create preference'}
          more={(body) => ({
            ...body,
            rules: sent(rules),
            examples,
            ...(of ? {} : { scope: owner.id ? 'team' : 'personal' }),
          })}
          disabled={may ? undefined : `Your role ${owner.role} cannot change this. Ask an owner or admin.`}
          onCancel={of ? undefined : close}
          onDone={of ? undefined : close}
        >
          <h3>Rules</h3>
          <p className="faint">The first pattern that matches decides, where its confidence reaches the floor.</p>
          <Rows
            name="rule"
            rows={rules}
            onChange={changed(setRules)}
            fresh={() => ({ pattern: '', target_mode: 'fast', confidence: 0.9, description: '' })}
          >
            {(rule, set) => (
              <div className="pair">
                <Field label="Pattern" problem={problemOf(rule.pattern)}>
                  {(props) => (
                    <input
                      {...props}
                      className="mono"
                      value={rule.pattern}
                      required
                      autoComplete="off"
                      onChange={({ target }) => set({ pattern: target.value })}
                    />
                  )}
                </Field>
                <ModeField label="Mode" value={rule.target_mode} onChange={(target_mode) => set({ target_mode })} />
                <Field label={`Confidence: ${percent(rule.confidence)}`}>
                  {(props) => (
                    <input
                      {...props}
                      type="range"
                      min="0.5"
                      max="0.99"
                      step="0.01"
                      value={rule.confidence}
                      onChange={({ target }) => set({ confidence: Number(target.value) })}
                    />
                  )}
                </Field>
                <Field label="Note">
                  {(props) => (
                    <input
                      {...props}
                      value={rule.description}
                      onChange={({ target }) => set({ description: target.value })}
                    />
                  )}
                </Field>
              </div>
            )}
          </Rows>
          <h3>Examples</h3>
          <Rows
            name="example"
            rows={examples}
            onChange={changed(setExamples)}
            fresh={() => ({ prompt: '', expected_mode: 'fast' })}
          >
            {(example, set) => (
              <div className="pair">
                <Field label="Prompt">
                  {(props) => (
                    <input
                      {...props}
                      value={example.prompt}
                      required
                      onChange={({ target }) => set({ prompt: target.value })}
                    />
                  )}
                </Field>
                <ModeField
                  label="Mode"
                  value={example.expected_mode}
                  onChange={(expected_mode) => set({ expected_mode })}
                />
              </div>
            )}
          </Rows>
        </Form>
        {of && (
          <Actions
            touches={['/routing-preferences', '/keys']}
            permission="manageWebhooks"
            actions={[
              {
                label: 'Delete…',
                method: 'DELETE',
                path,
                danger: true,
                ask: `${plural(of.bound_key_count, 'key')} lose this preference. This cannot be undone.`,
                done: close,
              },
            ]}
          />
        )}
      </div>
      <Try rules={rules} id={of?.id} />
    </div>
  )
}

const sent = (rules: Rule[]) => rules.map((rule) => ({ ...rule, description: rule.description || null }))

function problemOf(pattern: string): string | undefined {
  try {
    new RegExp(pattern)
    return undefined
  } catch (error) {
    return (error as Error).message
  }
}

const ModeField = (props: { label: string; value: string; onChange(mode: string): void }) => (
  <Field label={props.label}>
    {(given) => (
      <select {...given} value={props.value} onChange={({ target }) => props.onChange(target.value)}>
        {[...new Set([props.value, ...MODES])].map((mode) => (
          <option key={mode}>{mode}</option>
        ))}
      </select>
    )}
  </Field>
)

/** One prompt, routed with the rules as they stand in the form. */
function Try({ rules, id }: { rules: Rule[]; id: string | undefined }) {
  const calls = useCalls()
  const [prompt, setPrompt] = useState('')
  const [found, setFound] = useState<Preview | null>(null)
  const [problem, setProblem] = useState<Problem | null>(null)
  const run = () =>
    calls
      .json<Preview>('POST', '/routing-preferences/preview', {
        body: { prompt, rules: sent(rules), ...(id ? { routing_preference_id: id } : {}) },
      })
      .then(
        (answer) => {
          setProblem(null)
          setFound(answer)
        },
        (error: Problem) => setProblem(error),
      )
  return (
    <section className="card part try" aria-labelledby="try">
      <h3 id="try">Try a prompt</h3>
      <form
        className="form"
        onSubmit={(event) => {
          event.preventDefault()
          void run()
        }}
      >
        <Field label="Prompt to route">
          {(props) => (
            <textarea {...props} rows={3} required value={prompt} onChange={({ target }) => setPrompt(target.value)} />
          )}
        </Field>
        <div className="actions">
          <Button type="submit">Route it</Button>
        </div>
      </form>
      {problem && <Failed problem={problem} docs={DOCS} />}
      <div role="status">
        {found && (
          <>
            <p>
              <Chip state="good">{found.resolved_mode}</Chip> by {found.source}, engine {found.engine}
            </p>
            <ol className="plain-list">
              {found.stages.map((stage) => (
                <li key={stage.stage}>
                  <b>{stage.stage}</b>
                  <span>
                    {stage.mode ?? 'no answer'}
                    <small>{stage.matched ?? (stage.confidence === null ? '' : percent(stage.confidence))}</small>
                  </span>
                  <small>{duration(stage.ms)}</small>
                </li>
              ))}
            </ol>
            {found.warnings?.map((warning) => (
              <p key={warning} className="notice warn">
                {warning}
              </p>
            ))}
          </>
        )}
      </div>
    </section>
  )
}
