import { Link } from 'wouter'
import type { Widget } from '../../../../../widgets/schema'
import { useGet, useOwner } from '../../shell/api'
import { rangeFilter } from '../../shell/range'
import { defineScreen } from '../../shell/screen'
import { changedColumn, chipColumn, column } from '../../ui/columns'
import { type FormField, field } from '../../ui/fields'
import { short, whole } from '../../ui/format'
import { WidgetEditor } from './editor'

type Chat = { config_id: string }
type Key = { id: string; name: string; prefix: string; status: string }

function useNewWidget() {
  const keys = useGet<{ keys: Key[] }>('/keys', { limit: 100 })
  const usable = keys.data?.keys.filter(({ status }) => status === 'active') ?? []
  const choices = usable.map(({ id, name, prefix }) => [id, `${name} (${prefix}…)`] as const)
  const origins = 'Origins such as https://shop.example, separated by spaces. Empty: those of the key.'
  const fields: readonly FormField[] = [
    field('name', 'Name', { required: true }),
    field('api_key_id', 'Key that answers and pays', { kind: 'choice', choices }),
    field('security.allowedOrigins', 'Sites that may show it', { kind: 'list', help: origins }),
  ]
  const disabled = keys.data && usable.length === 0 ? 'Create a key first; it answers and pays.' : undefined
  return { fields, verb: 'Create widget', disabled }
}

/** Name of a key. All rows share one call for the whole list. */
function KeyName({ id }: { id: string }) {
  const keys = useGet<{ keys: Key[] }>('/keys', { limit: 100 })
  return <>{keys.data?.keys.find((key) => key.id === id)?.name ?? short(id)}</>
}
function Waiting({ id }: Widget) {
  const { looksAt, slug } = useOwner()
  const how = { everyMs: 10_000, off: looksAt !== undefined }
  const chats = useGet<{ takeovers: Chat[] }>('/takeovers', { state: 'waiting', limit: 100 }, how)
  const many = chats.data?.takeovers.filter(({ config_id }) => config_id === id).length
  return many ? <Link href={`/${slug}/inbox?state=waiting`}>{many}</Link> : (many ?? '–')
}

export default defineScreen<Widget>('widgets', 'Widgets', {
  list: { path: '/iframes', rows: 'configs', query: { sessions_from: rangeFilter.sends('7d').from } },
  columns: [
    column('name', 'Name', { main: true, width: 'minmax(0, 1.4fr)' }),
    chipColumn(
      'state',
      'State',
      ({ status }) => [status === 'active' ? 'live' : 'off', status === 'active' ? 'on' : 'off'],
      { width: '80px' },
    ),
    column('site', 'Sites', {
      cell: ({ security }) => security.allowedOrigins.join(', ') || 'those of its key',
      main: true,
      width: 'minmax(0, 1.6fr)',
    }),
    column('key', 'Key', { cell: ({ api_key_id: id }) => <KeyName id={id} /> }),
    column('mode', 'Mode', { cell: ({ behavior }) => behavior.mode, width: '72px' }),
    column('waiting', 'Waiting', { cell: (it) => <Waiting {...it} />, number: true, width: '80px' }),
    column('sessions', 'Sessions, 7 days', {
      cell: ({ sessions }) => whole(sessions ?? 0),
      number: true,
      width: '124px',
    }),
    changedColumn(({ updated_at }) => updated_at),
  ],
  empty: {
    text: 'No widget. A widget is a chat for your website; people of your team can take chats over.',
    command: 'svc-admin widgets create --key KEY --name NAME',
  },
  detail: { path: (id) => `/iframes/${id}`, titleOf: ({ name }) => name, body: WidgetEditor, wide: true },
  create: { label: 'New widget', permission: 'manageConnectors', useForm: useNewWidget },
})
