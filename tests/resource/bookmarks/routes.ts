import type { Guard } from '../../../src/http/guard'
import type { OperatorEdge } from '../../../src/http/operator-edge'
import { resourceVerbs } from '../../../src/http/resource-verbs'
import { operatorRoutes, tenantRoutes, verb } from '../../../src/http/verbs'
import { Visit } from './schema'
import type { BookmarkService } from './service'

const verbsOf = ({ bookmarks, visit }: BookmarkService) =>
  [
    ...resourceVerbs(bookmarks),
    verb.post('/bookmarks/:id/visit', { reply: Visit, summary: 'Say where a bookmark leads' }, (call, { id }) =>
      visit(call, id),
    ),
  ] as const

export const bookmarkRoutes = (service: BookmarkService, guard: Guard) =>
  tenantRoutes(verbsOf(service), guard, { scope: 'billing', tag: 'Bookmarks' })

export const bookmarkOperatorRoutes = (service: BookmarkService, edge: OperatorEdge) =>
  operatorRoutes(verbsOf(service), edge)
