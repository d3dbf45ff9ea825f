import { useState } from 'react'
import type { Preference, Preview } from '../../../../../routing/schema'
import { useCalls } from '../../shell/api'
import { unsaved } from '../../shell/form'
import { RuleSetEditor, TryPanel } from '../../shell/rule-set'
import { Chip, Field, Select } from '../../ui/controls'
import { duration, percent } from '../../ui/format'
import { Rows } from '../../ui/rows'
import { MODES } from './modes'

type Rule = { pattern: string; target_mode: string; confidence: number; description: string }
type Example = { prompt: string; expected_mode: string }

/** A preference with its rules and examples, and a prompt to try them on before they are saved. */
export function PreferenceEditor({ of, close }: { of: Preference | null; close(): void }) {
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
  return (
    <div className="editor">
      <RuleSetEditor
        of={of}
        list="/routing-preferences"
        what="preference"
        more={{ rules: sent(rules), examples }}
        close={close}
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
              <ModeField value={rule.target_mode} onChange={(target_mode) => set({ target_mode })} />
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
              <ModeField value={example.expected_mode} onChange={(expected_mode) => set({ expected_mode })} />
            </div>
          )}
        </Rows>
      </RuleSetEditor>
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

const ModeField = (props: { value: string; onChange(mode: string): void }) => (
  <Select {...props} label="Mode" choices={[...new Set([props.value, ...MODES])].map((mode) => [mode, mode])} />
)

/** One prompt, routed with the rules as they are in the form. */
function Try({ rules, id }: { rules: Rule[]; id: string | undefined }) {
  const calls = useCalls()
  const [prompt, setPrompt] = useState('')
  return (
    <TryPanel
      title="Try a prompt"
      verb="Route it"
      run={() =>
        calls.json<Preview>('POST', '/routing-preferences/preview', {
          body: { prompt, rules: sent(rules), ...(id ? { routing_preference_id: id } : {}) },
        })
      }
      fields={
        <Field label="Prompt to route">
          {(props) => (
            <textarea {...props} rows={3} required value={prompt} onChange={({ target }) => setPrompt(target.value)} />
          )}
        </Field>
      }
    >
      {(found) => (
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
    </TryPanel>
  )
}
