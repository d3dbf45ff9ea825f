import { apiOf } from './api'
import { expectData, notFoundFailure, usageFailure } from './failure'
import { column } from './output/columns'
import { eachEntry, type PageQuery } from './pages'
import type { Shell } from './shell'
import { argument, text } from './words'

export const takeoverWords = { apis: ['tenant', 'operator'], offline: false } as const
export const sessionArgs = { session: argument('id of the conversation') }
export const ofWidget = { widget: text('ID', 'id of the widget') }
/** For examples. */
export const SESSION = '4f0b7f0e-6f7e-4d0a-9a52-0d9f6b1f2c11'
export const states = [column('session_id', 'SESSION'), column('takeover_status', 'STATUS')]
export const statedColumns = [
  column('role', 'WHO'),
  column('content', 'SAID'),
  column('created_at', 'AT', { kind: 'time' }),
]

type Query = PageQuery & { takeover_status?: 'ai' | 'requested' | 'human'; status?: 'open' | 'closed' }

/** Of one widget; without one of all, which only operators can ask for at once. */
export async function queueOf(shell: Shell, widget: string | undefined, query: Query) {
  const { api, isOperator } = await apiOf(shell)
  if (widget !== undefined) {
    const found = await api.iframes({ id: encodeURIComponent(widget) }).conversations.get({ query })
    return expectData(found)
  }
  if (!isOperator) throw usageFailure('Add the widget: --widget ID. svc-admin widgets list shows your widgets.')
  return expectData(await (await shell.connect()).ops().takeovers.get({ query }))
}

/** The routes of one conversation; its widget is looked for where it is not named. */
export async function chatAt(shell: Shell, session: string, widget: string | undefined) {
  const { api } = await apiOf(shell)
  const id = widget ?? (await widgetOf(shell, session))
  const chat = api.iframes({ id: encodeURIComponent(id) }).conversations({ sessionId: encodeURIComponent(session) })
  return { chat }
}
export type ChatRoutes = Awaited<ReturnType<typeof chatAt>>['chat']

async function widgetOf(shell: Shell, session: string): Promise<string> {
  const all = eachEntry(async (input) => {
    const { conversations, next_cursor } = await queueOf(shell, undefined, input)
    return { items: conversations, next: next_cursor }
  })
  for await (const { session_id, config_id } of all) if (session_id === session) return config_id
  throw notFoundFailure(`There is no conversation ${session} here.`)
}
