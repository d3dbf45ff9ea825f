import { useState } from 'react'
import type { Preference, Preview, Replayed } from '../../../../../routing/schema'
import { useCalls } from '../../shell/api'
import { unsaved } from '../../shell/form'
import { MODES } from '../../shell/modes'
import { RuleSetEditor, TryPanel } from '../../shell/rule-set'
import { Chip, Text } from '../../ui/controls'
import { Lines } from '../../ui/facts'
import { type FormField, field } from '../../ui/fields'
import { duration, percent, plural } from '../../ui/format'
import { Rows } from '../../ui/rows'

const MAX_SHOWN = 50
const text = { required: true, empty: 'text' } as const
const mode = { label: 'Mode', kind: 'choice', choices: MODES } as const
const share = { kind: 'range', min: 0.5, max: 0.99, step: 0.01 } as const
const RULE: readonly FormField[] = [
  field('pattern', 'Pattern', { isCode: true, problemOf, ...text }),
  { name: 'target_mode', ...mode },
  field('confidence', 'Confidence', share),
  field('description', 'Note', { empty: 'text' }),
]
const EXAMPLE: readonly FormField[] = [field('prompt', 'Prompt', text), { name: 'expected_mode', ...mode }]
const FLOOR: readonly FormField[] = [{ name: 'mode', ...mode }, field('floor', 'Floor', share)]

type Rule = { pattern: string; target_mode: string; confidence: number; description: string }
type Example = { prompt: string; expected_mode: string }

/** A preference with its rules and examples, and a prompt to try them before saving. */
export function PreferenceEditor({ row: of, close }: { row?: Preference; close(): void }) {
  const [rules, setRules] = useState<Rule[]>(
    () => of?.rules.map((rule) => ({ ...rule, description: rule.description ?? '' })) ?? [],
  )
  const [examples, setExamples] = useState<Example[]>(() => of?.examples.map((it) => ({ ...it })) ?? [])
  const [floors, setFloors] = useState(() =>
    Object.entries(of?.confidence_floor_overrides ?? {}).map(([mode, floor]) => ({ mode, floor })),
  )
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
        more={{
          rules: sent(rules),
          examples,
          confidence_floor_overrides: Object.fromEntries(floors.map(({ mode, floor }) => [mode, floor])),
        }}
        close={close}
      >
        <h3>Rules</h3>
        <p className="faint">The first pattern that matches decides, where its confidence reaches the floor.</p>
        <Rows
          name="rule"
          rows={rules}
          onChange={changed(setRules)}
          fresh={() => ({ pattern: '', target_mode: 'fast', confidence: 0.9, description: '' })}
          fields={RULE}
        />
        <h3>Examples</h3>
        <Rows
          name="example"
          rows={examples}
          onChange={changed(setExamples)}
          fresh={() => ({ prompt: '', expected_mode: 'fast' })}
          fields={EXAMPLE}
        />
        <h3>Floors</h3>
        <p className="faint">How sure svc has to be before it chooses a mode: 85 % unless you set another floor.</p>
        <Rows
          name="floor"
          rows={floors}
          onChange={changed(setFloors)}
          fresh={() => ({ mode: MODES.find((mode) => !floors.some((it) => it.mode === mode)) ?? 'fast', floor: 0.85 })}
          fields={FLOOR}
        />
      </RuleSetEditor>
      <div className="try">
        <Try rules={rules} id={of?.id} />
        <History rules={rules} id={of?.id} />
      </div>
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

/** Routes one prompt with the rules in the form. */
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
      fields={<Text label="Prompt to route" rows={3} required value={prompt} onChange={setPrompt} />}
    >
      {(found) => (
        <>
          <p>
            <Chip state="good">{found.resolved_mode}</Chip> by {found.source}, engine {found.engine}
          </p>
          <Lines
            of={found.stages}
            line={({ stage, mode, matched, confidence, ms }) => ({
              key: stage,
              mark: <b>{stage}</b>,
              text: mode ?? 'no answer',
              small: matched ?? (confidence === null ? '' : percent(confidence)),
              end: <small>{duration(ms)}</small>,
            })}
          />
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

/** Shows what the rules in the form would change for stored prompts. Bills and stores nothing. */
function History({ rules, id }: { rules: Rule[]; id: string | undefined }) {
  const calls = useCalls()
  return (
    <TryPanel
      title="Try on your history"
      verb="Compare"
      run={() =>
        calls.json<Replayed>('POST', '/routing-preferences/replay', {
          body: { rules: sent(rules), ...(id ? { routing_preference_id: id } : {}) },
        })
      }
      fields={<p className="faint">Prompts of conversations, corrections and examples. Nothing else is kept.</p>}
    >
      {({ tested, changed, by_mode, timed_out }) => (
        <>
          <p>
            {changed.length} of {plural(tested, 'prompt')} would get another mode.
            {timed_out && ' There are more; two seconds were too short for all.'}
          </p>
          <Lines
            of={Object.entries(by_mode).filter(([, { before, after }]) => before !== after)}
            line={([mode, { before, after }]) => ({
              ...{ key: mode, mark: <b>{mode}</b>, text: `${before} before, ${after} after` },
            })}
          />
          <Lines
            of={changed.slice(0, MAX_SHOWN)}
            line={({ source, excerpt, before, after }) => ({
              key: `${source.id} ${excerpt}`,
              text: excerpt,
              small: `${before} → ${after}, from your ${source.type}s`,
            })}
          />
        </>
      )}
    </TryPanel>
  )
}
