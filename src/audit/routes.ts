import { Elysia } from 'elysia'
import { answer, errors } from '../http/envelope'
import { type Guard, toCall } from '../http/guard'
import { ownerOf } from '../kernel/caller'
import { checkedQuery, t } from '../kernel/schema'
import type { Store } from '../kernel/store'
import { AuditEvent, AuditQuery } from './schema'
import type { AuditLog } from './service'

type Deps = { audit: AuditLog; store: Store }

/** `GET /audit`: a bare array, so paging travels in headers (contract 1.8, 19). */
export const auditRoutes = ({ audit, store }: Deps, guard: Guard) =>
  new Elysia({ prefix: '/audit', tags: ['Audit'] }).use(guard).get(
    '',
    async (context) => {
      const { query, set, request } = context
      const page = await audit.list(store.read, ownerOf(toCall(context).caller), query)
      set.headers['x-has-more'] = String(page.next !== null)
      if (page.next !== null) {
        set.headers['x-next-cursor'] = page.next
        set.headers.link = `<${nextAddress(request.url, page.next)}>; rel="next"`
      }
      return page.items
    },
    {
      scope: 'billing',
      query: checkedQuery(AuditQuery),
      response: { 200: answer(t.Array(AuditEvent)), ...errors(400, 401, 403, 429) },
      detail: {
        summary: 'The record of your account, newest first',
        description:
          'A page may hold fewer events than `limit` while `X-Has-More` is true: a filter that matches little ' +
          'is read in steps. Follow `Link` until it is gone.',
      },
    },
  )

/** The same address with the next cursor, relative to the origin. */
function nextAddress(url: string, cursor: string): string {
  const [path = '', query = ''] = url.slice(url.indexOf('/', url.indexOf('://') + 3)).split('?')
  const params = new URLSearchParams(query)
  params.set('cursor', cursor)
  return `${path}?${params}`
}
