import type { Guard } from '../../http/guard'
import type { OperatorEdge } from '../../http/operator-edge'
import { resourceVerbs } from '../../http/resource-verbs'
import { operatorRoutes, tenantRoutes, verb } from '../../http/verbs'
import * as words from './schema'
import type { HookService } from './service'

/** `/hooks` (contract 11.1), for tenants and operators: a list has the presets too, and one has its history. */
const verbsOf = ({ hooks, list, history }: HookService) => {
  const [create, , , update, remove] = resourceVerbs(hooks)
  const { summaries, holds } = hooks.resource
  return [
    // Its preset or its skill may not be there.
    { ...create, errors: [404] as const },
    verb(
      {
        method: 'get',
        path: '/hooks',
        holds,
        query: words.HookQuery,
        reply: words.HookPage,
        owned: true,
        summary: summaries.list,
      },
      (call, { query, owner }) => list(call, query, { owner }),
    ),
    verb(
      {
        method: 'get',
        path: '/hooks/:id',
        holds,
        query: words.HookQuery,
        reply: words.HookHistory,
        errors: [404],
        summary: summaries.get,
      },
      (call, { id, query }) => history(call, id, query),
    ),
    verb(
      {
        method: 'get',
        path: '/hooks/:id/executions',
        holds,
        query: words.HookQuery,
        reply: words.HookExecutions,
        errors: [404],
        summary: 'List the runs of a hook, newest first',
      },
      async (call, { id, query }) => {
        const { hook: _, ...executions } = await history(call, id, query)
        return executions
      },
    ),
    update,
    remove,
  ] as const
}

export const hookRoutes = (service: HookService, guard: Guard) =>
  tenantRoutes(verbsOf(service), guard, { scope: 'completions', tag: 'Hooks' })

export const hookOperatorRoutes = (service: HookService, edge: OperatorEdge) => operatorRoutes(verbsOf(service), edge)
