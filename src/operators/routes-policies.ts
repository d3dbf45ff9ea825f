import { Elysia } from 'elysia'
import { answer, errors } from '../http/envelope'
import { type operatorEdge, toOperatorCall } from '../http/operator-edge'
import { pageFields } from '../kernel/page'
import { checked, checkedQuery, t } from '../kernel/schema'
import * as words from '../routing-preferences/schema'
import { OwnerQuery } from './schema'
import type { OperatorService } from './service'

type Edge = ReturnType<typeof operatorEdge>

const ByRef = checkedQuery(t.Object({ ref: t.String() }))
const ByOwner = checkedQuery(OwnerQuery)
const withOwner = <T extends { properties: object }>({ properties }: T) =>
  t.Object({ ...properties, ...OwnerQuery.properties } as T['properties'] & typeof OwnerQuery.properties)

/** Routing preferences and corrections of any owner (dx 2.10). */
export const preferenceRoutes = (preferences: OperatorService['preferences'], edge: Edge) =>
  new Elysia({ prefix: '/ops/v1' })
    .use(edge)
    .get(
      '/routing-preferences',
      async (context) => {
        const page = await preferences.list(toOperatorCall(context), context.query)
        return { routing_preferences: page.items, ...pageFields(page) }
      },
      {
        query: checkedQuery(withOwner(words.PreferenceQuery)),
        response: { 200: answer(words.PreferencePage), ...errors(400, 404) },
      },
    )
    .post(
      '/routing-preferences',
      (context) => preferences.create(toOperatorCall(context), context.query, context.body),
      {
        query: ByOwner,
        body: checked(words.NewPreference),
        response: { 200: answer(words.Preference), ...errors(400, 404, 409) },
      },
    )
    .post(
      '/routing-preferences/preview',
      (context) => preferences.preview(toOperatorCall(context), context.query, context.body),
      {
        query: ByOwner,
        body: checked(words.PreviewOrder),
        response: { 200: answer(words.Preview), ...errors(400, 404, 409) },
      },
    )
    .post(
      '/routing-preferences/suggest-rule',
      (context) => preferences.suggest(toOperatorCall(context), context.query, context.body),
      {
        query: ByOwner,
        body: checked(words.SuggestOrder),
        response: { 200: answer(words.Suggestion), ...errors(400, 404) },
      },
    )
    .get('/routing-preferences/:ref', (context) => preferences.get(toOperatorCall(context), context.params.ref), {
      params: ByRef,
      response: { 200: answer(words.Preference), ...errors(404) },
    })
    .patch(
      '/routing-preferences/:ref',
      (context) => preferences.update(toOperatorCall(context), context.params.ref, context.body),
      {
        params: ByRef,
        body: checked(words.PreferencePatch),
        response: { 200: answer(words.Preference), ...errors(400, 404, 409) },
      },
    )
    .delete('/routing-preferences/:ref', (context) => preferences.remove(toOperatorCall(context), context.params.ref), {
      params: ByRef,
      response: { 200: answer(words.PreferenceDeleted), ...errors(404) },
    })
    .get(
      '/routing-corrections',
      async (context) => {
        const page = await preferences.corrections(toOperatorCall(context), context.query)
        return { routing_corrections: page.items, ...pageFields(page) }
      },
      {
        query: checkedQuery(withOwner(words.CorrectionQuery)),
        response: { 200: answer(words.CorrectionPage), ...errors(400, 404) },
      },
    )
