import { useState } from 'react'
import type { CacheStats } from '../../../../../operators/schema'
import type {
  AddedEngine,
  EngineAlias,
  EngineHealth,
  EngineTarget,
  EngineTest,
} from '../../../../../operators/schema-engines'
import { Actions, type ActionsProps, deletion } from '../../shell/actions'
import { useGet } from '../../shell/api'
import { Form } from '../../shell/form'
import { Page } from '../../shell/page'
import { defineScreen } from '../../shell/screen'
import { defineTabs } from '../../shell/tabs'
import { column } from '../../ui/columns'
import { Check, Chip } from '../../ui/controls'
import { Facts, Lines, Part } from '../../ui/facts'
import { type FormField, field } from '../../ui/fields'
import { duration, money, number, percent, plural, size } from '../../ui/format'
import { Shown } from '../../ui/states'
import { Prices } from './prices'

const STATES = { ready: 'good', trying: 'again', failing: 'bad', unreachable: 'bad', off: 'off', none: 'warn' } as const
const SOURCES = { here: 'here', file: 'svc.server.json', environment: 'the environment' } as const
const KINDS = {
  compat: 'compat: any server with chat completions, by its address',
  openai: 'openai: the service of this name',
  anthropic: 'anthropic: the service of this name',
  google: 'google: the service of this name',
} as const

const State = ({ state }: EngineTarget) => <Chip state={STATES[state]}>{state}</Chip>
const upstreamOf = ({ target }: EngineTarget) => target?.split(':')[0] ?? null

/** The checks of an engine, each with its time. */
const Tests = ({ tests }: { tests: readonly EngineTest[] }) => (
  <Lines
    of={tests.flatMap(({ id, checks }) => checks.map((check) => ({ id, ...check })))}
    line={({ id, check, ok, latency_ms, detail }) => ({
      key: `${id} ${check}`,
      mark: <Chip state={ok ? 'good' : 'bad'}>{check}</Chip>,
      text: id,
      small: detail,
      end: <small>{duration(latency_ms)}</small>,
    })}
  />
)

const ORDER = field('targets', 'What answers, best first', {
  kind: 'lines',
  help: 'One NAME:MODEL per line. If one fails, the next is tried.',
})
const PAUSE = 'Calls go to the next engine of each mode at once. Calls in progress finish. The settings stay.'

/** What can be done with an upstream that was set here. */
const ownActions = (path: string, isOff: boolean, close: () => void): ActionsProps['actions'] => [
  { label: 'Change…', method: 'PATCH', path, body: { test: true }, fields: CHANGE },
  {
    ...{ label: isOff ? 'Use again' : 'Pause…', method: 'PATCH', path },
    body: { settings: { off: isOff ? null : true }, test: false },
    ...(isOff ? {} : { ask: PAUSE }),
  },
  deletion(path, 'Calls go to the next engine of each mode at once.', close, 'Remove…'),
]

const copying = (path: string, source: EngineTarget['source']): ActionsProps['actions'] => [
  {
    ...{ label: 'Copy to here…', method: 'PATCH', path, body: { copy: true, test: false } },
    ask: `It stands in ${source === null ? 'the configuration' : SOURCES[source]}. The copy here wins, and can be changed.`,
  },
]

function TargetBody({ row: it, close }: { row: EngineTarget; close(): void }) {
  const upstream = upstreamOf(it)
  const isHere = it.source === 'here'
  const path = `/engines/${upstream}`
  const isBuiltIn = it.kind === 'builtin' || upstream === null
  return (
    <>
      <Actions
        touches={['/engines', '/status']}
        role="admin"
        actions={[
          !isBuiltIn && { label: 'Test', path: `/engines/test?upstream=${upstream}`, shows: Tests },
          {
            label: 'Order of engines…',
            method: 'PUT',
            path: `/engines/map/${it.mode}`,
            fields: [{ ...ORDER, label: `What answers ${it.mode}, best first` }],
          },
          ...(isBuiltIn ? [] : isHere ? ownActions(path, it.state === 'off', close) : copying(path, it.source)),
        ]}
      />
      {!isBuiltIn && !isHere && <p className="faint">To change or pause it, copy it to here first.</p>}
      {!isBuiltIn && <Day name={upstream} />}
      <Facts
        of={{
          State: <State {...it} />,
          Why: it.why ?? it.problem ?? 'nothing is wrong',
          Answers: `${it.id}, as number ${it.rank}`,
          Target: <code>{it.target ?? 'none'}</code>,
          Kind: it.kind ?? 'none',
          Address: it.address ?? 'none',
          'Set in': it.source === null ? 'the program' : SOURCES[it.source],
          'Hides one of': it.overrides === null ? 'nothing' : SOURCES[it.overrides],
        }}
      />
    </>
  )
}

/** Health of an upstream in the last 24 hours, one column per hour. */
function Day({ name }: { name: string }) {
  const health = useGet<EngineHealth>(`/engines/${name}/health`, { window: '24h' }, { everyMs: 30_000 })
  return (
    <Shown of={health} rows={2}>
      {({ buckets, calls, errors, p50, p95, last_error: last }) => {
        const called = calls.filter((many) => many !== null && many > 0).length
        return (
          <Part title="The last 24 hours">
            <div className="day" aria-hidden="true">
              {buckets.map((start, at) => (
                <span
                  key={start}
                  title={`${new Date(start).toLocaleString('en-GB')}: ${calls[at] ?? 0} calls, ${errors[at] ?? 0} failed`}
                  className={errors[at] ? 'bad' : calls[at] ? 'good' : ''}
                />
              ))}
            </div>
            <p className="faint">
              {called === 0
                ? 'No calls yet.'
                : `Calls in ${plural(called, 'part', 'parts')} of the day. p50 ${newest(p50)}, p95 ${newest(p95)} of late.`}
              {last && ` Last failure: ${last.message}`}
            </p>
          </Part>
        )
      }}
    </Shown>
  )
}

const newest = (series: readonly (number | null)[]): string => {
  const ms = series.findLast((it) => it !== null)
  return ms === undefined || ms === null ? 'not known' : duration(ms)
}

const CHANGE: readonly FormField[] = [
  field('base_url', 'Address', { help: 'Empty: unchanged.' }),
  field('api_key', 'Key', { kind: 'password', help: 'Empty: unchanged. It is encrypted and never shown.' }),
]

const ENGINE: readonly FormField[] = [
  field('name', 'Name', { required: true, help: 'Yours, such as main: lower-case letters, digits and hyphens.' }),
  field('kind', 'Kind', { kind: 'choice', choices: KINDS }),
  field('base_url', 'Address', { help: 'Such as http://127.0.0.1:8000/v1. Empty: that of the service.' }),
  field('api_key', 'Key', { kind: 'password', help: 'It is encrypted and never shown.' }),
  field('models', 'Models', { kind: 'list', help: 'Best first, as the server calls them. Empty: all that it lists.' }),
]

function NewEngine({ close }: { close(): void }) {
  const [found, setFound] = useState<AddedEngine | null>(null)
  const [isAnyway, setAnyway] = useState(false)
  return (
    <>
      <Form<AddedEngine>
        fields={ENGINE}
        method="POST"
        path="/engines"
        touches={['/engines', '/status', '/models']}
        verb={isAnyway ? 'Save' : 'Test and save'}
        more={({ models, ...body }) => ({
          ...body,
          ...((models as string[]).length ? { models } : {}),
          test: !isAnyway,
        })}
        onCancel={close}
        onDone={(made) => {
          if (made.saved_to !== null) return close()
          setFound(made)
          return false
        }}
      >
        {found && (
          <Check
            label="Save anyway"
            help="Calls that need what failed go to the next engine of their mode."
            checked={isAnyway}
            onChange={setAnyway}
          />
        )}
      </Form>
      {found && (
        <>
          <p className="notice warn" role="status">
            A test failed, and nothing was saved.
          </p>
          <Tests tests={found.tests} />
        </>
      )}
    </>
  )
}

const Upstreams = defineScreen<EngineTarget>('engines', 'Engines', {
  isOperators: true,
  list: { path: '/engines', rows: 'engines', everyMs: 10_000 },
  idOf: ({ id, rank }) => `${id}.${rank}`,
  columns: [
    column('mode', 'Mode', { cell: ({ mode, rank }) => (rank === 1 ? mode : `${mode}, ${rank}`), main: true }),
    column('state', 'State', { cell: State, main: true, width: '128px' }),
    column('target', 'Answered by', {
      cell: ({ target }) => <code title={target ?? ''}>{target ?? 'nothing'}</code>,
      main: true,
      width: 'minmax(0, 1.6fr)',
    }),
    column('address', 'Address', { width: 'minmax(0, 1.4fr)' }),
    column('source', 'Set in', { cell: ({ source }) => (source === null ? '–' : SOURCES[source]), width: '112px' }),
    column('why', 'Problem', { cell: ({ why, problem }) => why ?? problem ?? '–', width: 'minmax(0, 1.6fr)' }),
  ],
  filters: [{ name: 'state', label: 'State', values: Object.keys(STATES), match: 'same' }],
  empty: {
    text: 'Only the built-in engine is connected.',
    command: 'svc-admin engines add NAME --base-url URL --models MODEL',
  },
  detail: { titleOf: ({ id }) => id, body: TargetBody },
  create: { label: 'Add engine', role: 'admin', form: NewEngine },
})

const Aliases = defineScreen<EngineAlias>('engines', 'Engines', {
  isOperators: true,
  list: { path: '/engines/aliases', rows: 'aliases' },
  idOf: ({ name }) => name,
  columns: [
    column('name', 'Name that clients use', { cell: ({ name }) => <code>{name}</code>, main: true }),
    column('engine', 'Engine', { main: true }),
    column('listed', 'Listed', { cell: ({ listed }) => (listed ? 'yes' : 'no'), main: true, width: '96px' }),
    column('in', 'Set in', { cell: ({ set_in }) => set_in, main: true }),
  ],
  empty: { text: 'No aliases. One lets clients keep the name of another engine.' },
  detail: {
    titleOf: ({ name }) => name,
    actions: ({ name }, close) => {
      const path = `/engines/aliases/${encodeURIComponent(name)}`
      return { role: 'admin', actions: [deletion(path, 'Calls with this name are refused.', close, 'Remove…')] }
    },
  },
  create: {
    label: 'Add alias',
    role: 'admin',
    form: {
      method: 'PUT',
      fields: [
        field('name', 'Name that clients use', { required: true, help: 'It may end in *.' }),
        field('engine', 'Engine', { required: true, help: 'Such as svc-1-flash.' }),
        field('listed', 'Show it in the list of engines', { kind: 'check' }),
      ],
    },
  },
})

/** The answer cache, which makes repeated questions free. */
function Cache() {
  const cache = useGet<CacheStats>('/cache', {}, { everyMs: 10_000 })
  return (
    <Page title="Engines">
      <Shown of={cache}>
        {({ entries, bytes, max_bytes, hits, misses, hit_rate, saved_cents, by_mode }) => (
          <section className="card part" aria-label="Cache of answers">
            <Facts
              of={{
                Answers: number(entries),
                Memory: `${percent(bytes / max_bytes)} of ${size(max_bytes)}`,
                Hits: `${number(hits)} of ${number(hits + misses)} (${percent(hit_rate)})`,
                Saved: money(saved_cents),
                'By mode': by_mode.map(({ mode, hits: of }) => `${mode} ${of}`).join(', ') || 'none',
              }}
            />
            <Actions
              touches={['/cache']}
              role="admin"
              actions={[
                {
                  label: 'Clear cache…',
                  path: '/cache/purge',
                  body: { scope: 'all' },
                  danger: true,
                  ask: 'Each question goes to an engine again, and is charged again.',
                },
              ]}
            />
          </section>
        )}
      </Shown>
    </Page>
  )
}

export default defineTabs('engines', [
  { id: 'upstreams', label: 'Upstreams', screen: Upstreams },
  { id: 'prices', label: 'Prices', screen: Prices },
  { id: 'aliases', label: 'Aliases', screen: Aliases },
  { id: 'cache', label: 'Cache', screen: Cache },
])
