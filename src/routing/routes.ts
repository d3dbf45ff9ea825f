import { ApiKey } from '../accounts/keys/schema'
import type { Guard } from '../http/guard'
import { resourceVerbs } from '../http/resource-verbs'
import { tenant, tenantRoutes, verb } from '../http/verbs'
import { pageFields } from '../kernel/page'
import type { RoutingPreview } from './preview'
import * as words from './schema'
import type { PreferenceService } from './service'

type Modules = { preferences: PreferenceService; routingPreview: RoutingPreview }

/** `/routing-preferences` and `/routing-corrections` (docs/api.md 13), for tenants and operators. */
export const preferenceVerbs = ({ preferences: { preferences, suggest, corrections }, routingPreview }: Modules) =>
  [
    ...resourceVerbs(preferences),
    verb.post(
      '/routing-preferences/suggest-rule',
      {
        body: words.SuggestInput,
        reply: words.Suggestion,
        holds: 'content',
        role: 'support',
        owned: true,
        errors: [402, 404],
        summary: 'Suggest a rule from your recent corrections for a mode',
      },
      (call, { body, owner }) => suggest(call, body, { owner }),
    ),
    verb.post(
      '/routing-preferences/preview',
      {
        body: words.PreviewInput,
        reply: words.Preview,
        holds: ['matched', 'reasoning'],
        role: 'any',
        owned: true,
        errors: [402, 404],
        summary: 'Preview the routing of a prompt, stage by stage; nothing is billed or stored',
      },
      (call, { body, owner }) => routingPreview.preview(call, body, { owner }),
    ),
    verb.post(
      '/routing-preferences/replay',
      {
        body: words.ReplayInput,
        reply: words.Replayed,
        holds: ['excerpt'],
        role: 'any',
        owned: true,
        errors: [404],
        summary: 'Try rules on your stored prompts: which modes would change; nothing is billed or stored',
      },
      (call, { body, owner }) => routingPreview.replay(call, body, { owner }),
    ),
    verb.get(
      '/routing-corrections',
      {
        holds: ['prompt', 'note'],
        query: words.CorrectionQuery,
        reply: words.CorrectionPage,
        owned: true,
        summary: 'List your corrections, newest first',
      },
      async (call, { query, owner }) => {
        const page = await corrections.list(call, query, { owner })
        return { routing_corrections: page.items, ...pageFields(page) }
      },
    ),
  ] as const

/** Corrections can be added by tenants only. */
const correctionVerb = ({ preferences: { corrections } }: Modules) =>
  tenant.post(
    '/routing-corrections',
    {
      body: words.NewCorrection,
      reply: words.Correction,
      creates: true,
      errors: [404],
      summary: 'Record which mode a prompt should have been answered in',
    },
    (call, { body }) => corrections.add(call, body),
  )

/** `/keys/{id}/routing-preference` and `/keys/{id}/routing-rules` (docs/api.md 13). */
const bindingVerbs = ({ preferences: { bind } }: Modules) =>
  [
    tenant.put(
      '/keys/:id/routing-preference',
      {
        body: words.PreferenceBinding,
        reply: ApiKey,
        summary: 'Bind a routing preference to a key; null unbinds',
      },
      (call, { id, body }) => bind.preference(call, id, body),
    ),
    tenant.put(
      '/keys/:id/routing-rules',
      {
        body: words.RulesBinding,
        reply: ApiKey,
        summary: "Set a key's own routing rules, which come before any preference; an empty list removes them",
      },
      (call, { id, body }) => bind.rules(call, id, body),
    ),
  ] as const

export const preferenceRoutes = (modules: Modules, guard: Guard) =>
  tenantRoutes([...preferenceVerbs(modules), correctionVerb(modules)], guard, {
    scope: 'billing',
    tag: 'Routing preferences',
  }).use(tenantRoutes(bindingVerbs(modules), guard, { scope: 'billing', tag: 'API keys' }))
