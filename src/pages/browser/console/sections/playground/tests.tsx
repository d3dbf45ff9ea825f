import { useState } from 'react'
import { useLocation } from 'wouter'
import type {
  Check as CaseCheck,
  TestCase,
  TestCasePage,
  TestRunAccepted,
} from '../../../../../completions/test-cases-schema'
import type { ModelList } from '../../../../../engines/schema'
import type { Static } from '../../../../../kernel/schema'
import { deletion } from '../../shell/actions'
import { useGet, useOwner } from '../../shell/api'
import { Form, savingOf } from '../../shell/form'
import { defineScreen } from '../../shell/screen'
import { handed, useHanded } from '../../shell/value'
import { changedColumn, column } from '../../ui/columns'
import { Button, Check, Id, Select, Text } from '../../ui/controls'
import { Part } from '../../ui/facts'
import { type FormField, field } from '../../ui/fields'
import { Time } from '../../ui/format'
import { Rows } from '../../ui/rows'
import { Shown } from '../../ui/states'
import { Outcome, runsOf, useRuns } from './runs'

const CHECKS = [
  ['contains', 'contains', 'Text'],
  ['not_contains', 'does not contain', 'Text'],
  ['matches', 'matches a pattern', 'Pattern'],
  ['json_schema', 'matches a JSON schema', 'JSON Schema'],
  ['mode', 'has the mode', 'Mode'],
  ['max_ms', 'took at most', 'Milliseconds'],
  ['max_cost_cents', 'cost at most', 'Cents'],
] as const satisfies readonly (readonly [CaseCheck['type'], string, string])[]

type Written = { type: CaseCheck['type']; value: string }
const writtenOf = ({ type, value }: CaseCheck): Written => ({
  type,
  value: typeof value === 'object' ? JSON.stringify(value, null, 2) : String(value),
})

/** The check to send. Invalid JSON is sent unchanged, and the server reports the problem. */
function sentOf({ type, value }: Written): CaseCheck {
  if (type.startsWith('max_')) return { type, value: Number(value) }
  if (type !== 'json_schema') return { type, value }
  try {
    return { type, value: JSON.parse(value) }
  } catch {
    return { type, value }
  }
}
const spelled = (check: CaseCheck) =>
  `${CHECKS.find(([type]) => type === check.type)![1]} ${typeof check.value === 'object' ? '' : check.value}`

const FIELDS: readonly FormField[] = [
  field('name', 'Name', { required: true }),
  field('tags', 'Tags', { kind: 'list', help: 'To run some cases together, such as “release”.' }),
  field('request', 'Request', {
    kind: 'json',
    required: true,
    rows: 8,
    help: 'The body of POST /completions, or of POST /chat/completions with messages.',
  }),
]

/** A form for a case with its checks. With an id it changes the case, else it creates one. */
function CaseForm({ of, onDone, onCancel }: { of: Partial<TestCase>; onDone(): void; onCancel?: () => void }) {
  const [checks, setChecks] = useState<Written[]>((of.checks ?? []).map(writtenOf))
  return (
    <Form
      fields={FIELDS}
      values={of}
      {...savingOf('/test-cases', of, 'Make test case')}
      permission="manageSkills"
      more={(body) => ({ ...body, checks: checks.map(sentOf) })}
      onDone={onDone}
      onCancel={onCancel}
    >
      <fieldset>
        <legend>The answer</legend>
        <Rows name="check" rows={checks} onChange={setChecks} fresh={(): Written => ({ type: 'contains', value: '' })}>
          {({ type, value }, set) => (
            <div className="pair">
              <Select
                label="Must be true"
                value={type}
                choices={CHECKS.map(([name, label]) => [name, label] as const)}
                onChange={(next) => set({ type: next as CaseCheck['type'] })}
              />
              <Text
                label={CHECKS.find(([name]) => name === type)![2]}
                value={value}
                onChange={(text) => set({ value: text })}
                {...(type === 'json_schema' ? { rows: 4, className: 'mono' } : { required: true })}
                {...(type.startsWith('max_') ? { type: 'number', min: 0, step: 'any' } : {})}
              />
            </div>
          )}
        </Rows>
      </fieldset>
    </Form>
  )
}

function NewCase({ close }: { close(): void }) {
  // The playground and the log pass the request to store.
  const request = useHanded() ?? { prompt: '', mode: 'auto' }
  return <CaseForm of={{ request }} onDone={close} onCancel={close} />
}

function Last({ id }: { id: string }) {
  const last = useRuns()
    .data?.jobs.map((job) => runsOf(job).filter(({ case_id }) => case_id === id))
    .find((runs) => runs.length > 0)
  if (!last) return <>never run</>
  return <Outcome {...last[0]!} passed={last.every(({ passed }) => passed)} />
}

const MOST_ENGINES = 4
/** Modes that produce something other than text, or choose another mode. */
const NO_TEXT = ['auto', 'image', 'video', 'research']

/** Runs cases on engines. Every answer is charged. */
function RunForm({ ids, onCancel }: { ids?: string[]; onCancel?: () => void }) {
  const owner = useOwner()
  const [, navigate] = useLocation()
  const models = useGet<ModelList>('/models')
  const cases = useGet<Static<typeof TestCasePage>>('/test-cases', { limit: 100 })
  const [chosen, setChosen] = useState<string[]>([])
  const tags = [...new Set(cases.data?.test_cases.flatMap((it) => it.tags))].sort()
  const choices = [['', 'all'] as const, ...tags.map((tag) => [tag, `with the tag ${tag}`] as const)]
  const useful = models.data?.models.filter(({ mode }) => !NO_TEXT.includes(mode)) ?? []
  const engines = [...new Set(useful.map(({ model_id }) => model_id))]
  return (
    <Form<TestRunAccepted>
      fields={[
        ...(ids || tags.length === 0 ? [] : [field('tag', 'Cases', { kind: 'choice', choices })]),
        field('most_cents', 'Spend at most (dollars)', {
          kind: 'cents',
          required: true,
          min: 0,
          help: 'Every answer is billed as a completion. No new case starts once this much has been charged.',
        }),
      ]}
      values={{ most_cents: 100 }}
      method="POST"
      path="/test-cases/run"
      touches={['/jobs']}
      verb="Run"
      permission="manageSkills"
      more={(body) => ({ ...body, models: chosen, ...(ids ? { ids } : {}) })}
      disabled={chosen.length === 0 ? 'Choose one to four engines.' : undefined}
      onCancel={onCancel}
      onDone={({ job_id }) => navigate(`/${owner.slug}/playground/${job_id}?tab=runs`)}
    >
      <Shown of={models} rows={2}>
        {() => (
          <fieldset>
            <legend>Engines</legend>
            <div className="pair">
              {engines.map((engine) => (
                <Check
                  key={engine}
                  label={engine}
                  checked={chosen.includes(engine)}
                  disabled={!chosen.includes(engine) && chosen.length >= MOST_ENGINES}
                  onChange={(is) => setChosen(is ? [...chosen, engine] : chosen.filter((it) => it !== engine))}
                />
              ))}
            </div>
          </fieldset>
        )}
      </Shown>
    </Form>
  )
}

/** The form above the list, to run several cases. */
function RunSome() {
  const [isOpen, setOpen] = useState(false)
  const cases = useGet<Static<typeof TestCasePage>>('/test-cases', { limit: 100 })
  if (!cases.data?.test_cases.length) return null
  if (!isOpen)
    return (
      <div className="actions above-list">
        <Button onClick={() => setOpen(true)}>Run cases…</Button>
      </div>
    )
  return (
    <section className="card part above-list" aria-label="Run cases">
      <h2>Run cases</h2>
      <RunForm onCancel={() => setOpen(false)} />
    </section>
  )
}

function Open({ row: it }: { row: TestCase }) {
  const owner = useOwner()
  const [, navigate] = useLocation()
  const open = () => {
    handed.set(it.request)
    navigate(`/${owner.slug}/playground`)
  }
  return (
    <div className="actions">
      <Button onClick={open}>Open in playground</Button>
    </div>
  )
}

const CaseBody = ({ row: it }: { row: TestCase }) => (
  <>
    <Part title="Run it">
      <RunForm ids={[it.id]} />
    </Part>
    <Part title="Change it">
      <CaseForm of={it} onDone={() => {}} />
    </Part>
  </>
)

export const Tests = defineScreen<TestCase>('playground', 'Playground', {
  list: { path: '/test-cases', rows: 'test_cases' },
  columns: [
    column('name', 'Test case', { main: true, width: 'minmax(0, 1.6fr)' }),
    column('last', 'Last run', { cell: ({ id }) => <Last id={id} />, main: true, width: '112px' }),
    column('checks', 'The answer', {
      cell: ({ checks }) => checks.map(spelled).join(', ') || '–',
      main: true,
      width: 'minmax(0, 2fr)',
    }),
    column('tags', 'Tags', { cell: ({ tags }) => tags.join(', ') || '–' }),
    changedColumn(({ updated }) => updated),
  ],
  above: RunSome,
  empty: { text: 'Keep a prompt and what must be true of its answer.', command: 'svc-admin tests create -f case.json' },
  detail: {
    path: (id) => `/test-cases/${id}`,
    titleOf: ({ name }) => name,
    look: Open,
    actions: ({ id, name }, close) => {
      const ask = `“${name}” is gone. Results of earlier runs stay. This cannot be undone.`
      return { permission: 'manageSkills', actions: [deletion(`/test-cases/${id}`, ask, close)] }
    },
    facts: (it) => ({ 'Last run': <Last id={it.id} />, Id: <Id id={it.id} />, Changed: <Time at={it.updated} /> }),
    body: CaseBody,
  },
  create: { label: 'New test case', permission: 'manageSkills', form: NewCase },
})
