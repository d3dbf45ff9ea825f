import type { Recording, SessionSnapshot } from '../../../../../browser/schema'
import { Actions } from '../../shell/actions'
import { useGet } from '../../shell/api'
import { Form } from '../../shell/form'
import { defineScreen } from '../../shell/screen'
import { Chip, Id } from '../../ui/controls'
import { Facts } from '../../ui/facts'
import { Ago, Lasting, Time } from '../../ui/format'
import { Shown } from '../../ui/states'

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

function SessionBody({ row: session, close }: { row: SessionSnapshot; close(): void }) {
  const path = `/browser/sessions/${session.session_id}`
  const isLive = session.status === 'active'
  return (
    <>
      {isLive && session.embed_url && (
        <iframe
          key={session.live_view_version}
          className="live-view"
          src={sourceOf(session.embed_url)}
          title={session.current_title ?? 'Live view'}
        />
      )}
      <Actions
        touches={['/browser']}
        permission="manageConnectors"
        actions={[
          isLive && {
            label: 'Go to…',
            path: `${path}/actions`,
            body: { tool: 'browser_navigate' },
            fields: [{ name: 'arguments.url', label: 'Address', required: true }],
          },
          isLive && {
            label: 'Ask for a step…',
            path: `${path}/actions`,
            body: { tool: 'browser_act' },
            fields: [{ name: 'arguments.instruction', label: 'What to do', kind: 'area', required: true }],
          },
          isLive && {
            label: 'End…',
            method: 'DELETE',
            path,
            danger: true,
            ask: 'The browser closes, and its time is charged. The recording stays.',
            done: close,
          },
        ]}
      />
      <Facts
        facts={[
          ['State', <State key="state" {...session} />],
          ['Page', session.current_title ?? 'none'],
          ['Address', session.current_url ?? 'none'],
          ['Began', <Time key="began" at={session.started_at} />],
          ['Last used', <Ago key="used" at={session.last_active_at} />],
          ['Ends', <Time key="ends" at={session.expires_at} />],
          ['Proxy', session.proxies ? 'yes' : 'no'],
          ['Id', <Id key="id" id={session.session_id} />],
        ]}
      />
      <Steps path={path} />
    </>
  )
}

/** The steps of a session, by the agent or by a person. */
function Steps({ path }: { path: string }) {
  const recording = useGet<Recording>(`${path}/recording`)
  return (
    <section aria-labelledby="steps">
      <h3 id="steps">Steps</h3>
      <Shown of={recording} rows={2}>
        {({ actions, player_url }) => (
          <>
            {actions.length === 0 ? (
              <p className="faint">No steps yet.</p>
            ) : (
              <p>
                <a href={sourceOf(player_url)} target="_blank" rel="noreferrer">
                  Play the recording
                </a>
              </p>
            )}
            <ol className="plain-list">
              {actions.map(({ at, by, tool, input, target, ok, result }) => (
                <li key={at + tool + input}>
                  <Chip state={ok ? 'good' : 'bad'}>{WHO[by]}</Chip>
                  <span>
                    {verbOf(tool)}: {target?.name ?? input}
                    <small>{result}</small>
                  </span>
                  <Time at={at} />
                </li>
              ))}
            </ol>
          </>
        )}
      </Shown>
    </section>
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

const NewSession = ({ close }: { close(): void }) => (
  <Form
    fields={[
      { name: 'url', label: 'Address to open', empty: 'null', help: 'A public address. Empty: a blank page.' },
      { name: 'record', label: 'Record the steps', kind: 'check' },
      { name: 'keep_alive', label: 'Keep it open when idle', kind: 'check' },
      { name: 'proxies', label: "Use the server's proxy", kind: 'check', help: 'Charged per MB.' },
    ]}
    values={{ record: true }}
    method="POST"
    path="/browser/sessions"
    touches={['/browser']}
    verb="Start session"
    onCancel={close}
    onDone={close}
  />
)

export default defineScreen<SessionSnapshot>({
  section: 'browser',
  title: 'Browser',
  list: { path: '/browser/sessions', rows: 'sessions', everyMs: 30_000 },
  idOf: ({ session_id }) => session_id,
  columns: [
    {
      key: 'title',
      head: 'Page',
      cell: ({ current_title, current_url }) => current_title || current_url || 'A blank page',
      main: true,
      width: 'minmax(0, 1.6fr)',
    },
    { key: 'state', head: 'State', cell: State, main: true, width: '148px' },
    {
      key: 'host',
      head: 'Site',
      cell: ({ current_url }) => hostOf(current_url),
    },
    { key: 'began', head: 'Began', cell: ({ started_at }) => <Time at={started_at} />, main: true, width: '144px' },
    {
      key: 'used',
      head: 'Last used',
      cell: (it) => <Ago at={it.last_active_at} />,
      number: true,
      main: true,
      width: '128px',
    },
  ],
  tile: (session) => <Tile {...session} />,
  empty: {
    text: 'No live browser. An agent or you can open pages here and take steps in them. Those that a key opened belong to the key.',
  },
  detail: {
    path: (id) => `/browser/sessions/${id}`,
    titleOf: ({ current_title }) => current_title || 'A browser',
    body: SessionBody,
    wide: true,
  },
  create: { label: 'Start session', permission: 'manageConnectors', form: NewSession },
})
