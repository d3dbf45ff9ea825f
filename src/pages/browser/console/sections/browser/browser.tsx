import type { Recording, SessionSnapshot } from '../../../../../browser/schema'
import { deletion } from '../../shell/actions'
import { useGet } from '../../shell/api'
import { defineScreen } from '../../shell/screen'
import { agoColumn, column, timeColumn } from '../../ui/columns'
import { Chip, Id } from '../../ui/controls'
import { Lines, ShownPart } from '../../ui/facts'
import { type FormField, field } from '../../ui/fields'
import { Ago, Lasting, Time } from '../../ui/format'

const State = ({ status, ended_reason }: SessionSnapshot) =>
  status === 'active' ? (
    <Chip state="live">live</Chip>
  ) : (
    <Chip state="off">ended{ended_reason && `: ${ended_reason}`}</Chip>
  )

/** A link of this server as a path, so that this page may frame it. */
function sourceOf(link: string): string {
  const { pathname, search, hash } = new URL(link, location.origin)
  return pathname + search + hash
}

const Live = ({ row: { status, embed_url, live_view_version, current_title } }: { row: SessionSnapshot }) =>
  status === 'active' &&
  embed_url && (
    <iframe
      key={live_view_version}
      className="live-view"
      src={sourceOf(embed_url)}
      title={current_title ?? 'Live view'}
    />
  )

/** The steps of a session, by the agent or by a person. */
function Steps({ row }: { row: SessionSnapshot }) {
  const recording = useGet<Recording>(`/browser/sessions/${row.session_id}/recording`)
  return (
    <ShownPart title="Steps" of={recording} rows={2}>
      {({ actions, player_url }) => (
        <>
          {actions.length > 0 && (
            <p>
              <a href={sourceOf(player_url)} target="_blank" rel="noreferrer">
                Play the recording
              </a>
            </p>
          )}
          <Lines
            of={actions}
            empty="No steps yet."
            line={({ at, by, tool, input, target, ok, result }) => ({
              key: at + tool + input,
              mark: <Chip state={ok ? 'good' : 'bad'}>{WHO[by]}</Chip>,
              text: `${verbOf(tool)}: ${target?.name ?? input}`,
              small: result,
              end: <Time at={at} />,
            })}
          />
        </>
      )}
    </ShownPart>
  )
}

/** A session in the gallery, with its newest picture while it is live. */
function Tile({ session_id, current_title, current_url, status, started_at, ...rest }: SessionSnapshot) {
  const isLive = status === 'active'
  const path = `/browser/sessions/${session_id}/recording`
  const { data } = useGet<Recording>(path, {}, { everyMs: 30_000, off: !isLive })
  const last = data?.actions.findLast(({ frame_url }) => frame_url !== null)
  return (
    <>
      {last?.frame_url ? (
        <img src={sourceOf(last.frame_url)} alt="" loading="lazy" />
      ) : (
        <span className="kind">{isLive ? 'no picture yet' : 'ended'}</span>
      )}
      <span>{current_title || current_url || 'A blank page'}</span>
      <small>
        {hostOf(current_url)}, {isLive ? <Lasting since={started_at} /> : <Ago at={rest.last_active_at} />}
        {last && `, ${verbOf(last.tool)} by ${WHO[last.by]}`}
      </small>
    </>
  )
}
const WHO = { agent: 'the agent', person: 'a person', api: 'the API' } as const
const verbOf = (tool: string) => tool.replace('browser_', '').replaceAll('_', ' ')
const hostOf = (url: string | null) => (url && URL.canParse(url) ? new URL(url).host : '–')

const NEW: readonly FormField[] = [
  field('url', 'Address to open', { empty: 'null', help: 'A public address. Empty: a blank page.' }),
  field('record', 'Record the steps', { kind: 'check' }),
  field('keep_alive', 'Keep it open when idle', { kind: 'check' }),
  field('proxies', "Use the server's proxy", { kind: 'check', help: 'Charged per MB.' }),
]

export default defineScreen<SessionSnapshot>('browser', 'Browser', {
  list: { path: '/browser/sessions', rows: 'sessions', everyMs: 30_000 },
  idOf: ({ session_id }) => session_id,
  columns: [
    column('title', 'Page', {
      cell: ({ current_title, current_url }) => current_title || current_url || 'A blank page',
      main: true,
      width: 'minmax(0, 1.6fr)',
    }),
    column('state', 'State', { cell: State, main: true, width: '148px' }),
    column('host', 'Site', { cell: ({ current_url }) => hostOf(current_url) }),
    timeColumn('began', 'Began', ({ started_at }) => started_at),
    agoColumn('used', 'Last used', (it) => it.last_active_at),
  ],
  tile: (session) => <Tile {...session} />,
  empty: {
    text: 'No live browser. An agent or you can open pages here and take steps in them. Sessions that a key opened belong to that key.',
  },
  detail: {
    path: (id) => `/browser/sessions/${id}`,
    titleOf: ({ current_title }) => current_title || 'A browser',
    look: Live,
    actions: ({ session_id, ...session }, close) => {
      const path = `/browser/sessions/${session_id}`
      const act = (label: string, tool: string, field: FormField) =>
        session.status === 'active' && { label, path: `${path}/actions`, body: { tool }, fields: [field] }
      const end = 'The browser closes, and its time is charged. The recording stays.'
      return {
        touches: ['/browser'],
        permission: 'manageConnectors',
        actions: [
          act('Go to…', 'browser_navigate', field('arguments.url', 'Address', { required: true })),
          act('Ask for a step…', 'browser_act', {
            ...{ name: 'arguments.instruction', label: 'What to do', kind: 'area', required: true },
          }),
          session.status === 'active' && deletion(path, end, close, 'End…'),
        ],
      }
    },
    facts: (session) => ({
      State: <State {...session} />,
      Page: session.current_title ?? 'none',
      Address: session.current_url ?? 'none',
      Began: <Time at={session.started_at} />,
      'Last used': <Ago at={session.last_active_at} />,
      Ends: <Time at={session.expires_at} />,
      Proxy: session.proxies ? 'yes' : 'no',
      Id: <Id id={session.session_id} />,
    }),
    body: Steps,
    wide: true,
  },
  create: { label: 'Start session', permission: 'manageConnectors', form: { fields: NEW, values: { record: true } } },
})
