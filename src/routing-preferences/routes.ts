import { Elysia } from 'elysia'
import { answer, errors } from '../http/envelope'
import { type Guard, toCall } from '../http/guard'
import { pageFields } from '../kernel/page'
import { checked, checkedPath, checkedQuery, t } from '../kernel/schema'
import { ApiKey } from '../keys/schema'
import {
  NewPreference,
  Preference,
  PreferenceBinding,
  PreferenceDeleted,
  PreferencePage,
  PreferencePatch,
  PreferenceQuery,
  RulesBinding,
} from './schema'
import {
  Correction,
  CorrectionPage,
  CorrectionQuery,
  NewCorrection,
  Suggestion,
  SuggestOrder,
} from './schema-corrections'
import { Preview, PreviewOrder } from './schema-preview'
import type { PreferenceService, RoutingPreview } from './service'

type Rooms = { preferences: PreferenceService; routingPreview: RoutingPreview }

const ById = checkedPath(t.Object({ id: t.String() }))

/** `/routing-preferences` (contract 13). */
export const preferenceRoutes = ({ preferences, routingPreview }: Rooms, guard: Guard) =>
  new Elysia({ prefix: '/routing-preferences', tags: ['Routing preferences'] })
    .use(guard)
    .post('', async (context) => context.status(201, await preferences.create(toCall(context), context.body)), {
      scope: 'billing',
      idempotent: true,
      body: checked(NewPreference),
      response: { 201: answer(Preference), ...errors(400, 401, 403, 409, 413, 415, 429, 503) },
      detail: { summary: 'Create a routing preference, not yet bound to a key' },
    })
    .get(
      '',
      async (context) => {
        const page = await preferences.list(toCall(context), context.query)
        return { routing_preferences: page.items, ...pageFields(page) }
      },
      {
        scope: 'billing',
        query: checkedQuery(PreferenceQuery),
        response: { 200: answer(PreferencePage), ...errors(400, 401, 403, 429) },
        detail: { summary: 'List your routing preferences and those of your organizations, newest first' },
      },
    )
    .post('/suggest-rule', (context) => preferences.suggest(toCall(context), context.body), {
      scope: 'billing',
      body: checked(SuggestOrder),
      response: { 200: answer(Suggestion), ...errors(400, 401, 402, 403, 404, 413, 415, 429) },
      detail: { summary: 'Suggest a rule from your recent corrections for a mode' },
    })
    .post('/preview', (context) => routingPreview.preview(toCall(context), context.body), {
      scope: 'billing',
      body: checked(PreviewOrder),
      response: { 200: answer(Preview), ...errors(400, 401, 402, 403, 404, 413, 415, 429, 503) },
      detail: { summary: 'Preview the routing of a prompt, stage by stage; nothing is billed or stored' },
    })
    .get('/:id', (context) => preferences.get(toCall(context), context.params.id), {
      scope: 'billing',
      params: ById,
      response: { 200: answer(Preference), ...errors(401, 403, 404, 429) },
      detail: { summary: 'Read one routing preference' },
    })
    .patch('/:id', (context) => preferences.update(toCall(context), context.params.id, context.body), {
      scope: 'billing',
      params: ById,
      body: checked(PreferencePatch),
      response: { 200: answer(Preference), ...errors(400, 401, 403, 404, 409, 413, 415, 429, 503) },
      detail: { summary: 'Change a routing preference; omitted members stay, arrays are replaced' },
    })
    .delete('/:id', (context) => preferences.remove(toCall(context), context.params.id), {
      scope: 'billing',
      params: ById,
      response: { 200: answer(PreferenceDeleted), ...errors(401, 403, 404, 429) },
      detail: { summary: 'Delete a routing preference and unbind it from its keys' },
    })

/** `/routing-corrections` (contract 13). */
export const correctionRoutes = ({ corrections }: PreferenceService, guard: Guard) =>
  new Elysia({ prefix: '/routing-corrections', tags: ['Routing preferences'] })
    .use(guard)
    .post('', async (context) => context.status(201, await corrections.add(toCall(context), context.body)), {
      scope: 'billing',
      idempotent: true,
      body: checked(NewCorrection),
      response: { 201: answer(Correction), ...errors(400, 401, 403, 404, 409, 413, 415, 429) },
      detail: { summary: 'Record which mode a prompt should have been answered in' },
    })
    .get(
      '',
      async (context) => {
        const page = await corrections.list(toCall(context), context.query)
        return { routing_corrections: page.items, ...pageFields(page) }
      },
      {
        scope: 'billing',
        query: checkedQuery(CorrectionQuery),
        response: { 200: answer(CorrectionPage), ...errors(400, 401, 403, 429) },
        detail: { summary: 'List your corrections, newest first' },
      },
    )

/** `/keys/{id}/routing-preference` and `/keys/{id}/routing-rules` (contract 13). */
export const routingBindingRoutes = (preferences: PreferenceService, guard: Guard) =>
  new Elysia({ prefix: '/keys', tags: ['API keys'] })
    .use(guard)
    .put(
      '/:id/routing-preference',
      (context) => preferences.bind.preference(toCall(context), context.params.id, context.body),
      {
        ...binding,
        body: checked(PreferenceBinding),
        detail: { summary: 'Bind a routing preference to a key; null unbinds' },
      },
    )
    .put('/:id/routing-rules', (context) => preferences.bind.rules(toCall(context), context.params.id, context.body), {
      ...binding,
      body: checked(RulesBinding),
      detail: {
        summary: "Set a key's own routing rules, which come before any preference; an empty list removes them",
      },
    })

const binding = {
  scope: 'billing',
  params: ById,
  response: { 200: answer(ApiKey), ...errors(400, 401, 403, 404, 413, 415, 429, 503) },
} as const
