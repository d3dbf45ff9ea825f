import { Elysia } from 'elysia'
import { answer, errors } from '../http/envelope'
import { type Guard, toCall } from '../http/guard'
import { checked, checkedQuery, t } from '../kernel/schema'
import * as words from './schema'
import { Recording } from './schema'
import type { BrowserService } from './service'

const ById = checkedQuery(t.Object({ id: t.String() }))
const Force = checkedQuery(words.ForceQuery)
const isFresh = ({ force }: { force?: string }): boolean => force === '1' || force === 'true'

/** `/browser` (contract 16.1). */
export const browserRoutes = (browser: BrowserService, guard: Guard) =>
  new Elysia({ prefix: '/browser/sessions', tags: ['Browser'] })
    .use(guard)
    .post(
      '',
      async (context) => {
        context.set.status = 201
        return browser.start(toCall(context), context.body)
      },
      {
        scope: 'connectors',
        idempotent: true,
        timeLimit: 'own',
        body: checked(words.NewSession),
        response: {
          201: answer(words.SessionHandle),
          ...errors(400, 401, 402, 403, 409, 429, 501, 503),
        },
        detail: {
          summary: 'Start a browser session',
          description:
            '`embed_url` is the source of an iframe. The session ends after 20 minutes, or after 5 minutes without activity.',
        },
      },
    )
    .get('', (context) => browser.list(toCall(context)), {
      scope: 'connectors',
      response: { 200: answer(words.SessionList), ...errors(401, 403, 429) },
      detail: { summary: 'List your open browser sessions' },
    })
    .get('/:id', (context) => browser.get(toCall(context), context.params.id, isFresh(context.query)), {
      scope: 'connectors',
      params: ById,
      query: Force,
      response: { 200: answer(words.SessionSnapshot), ...errors(400, 401, 403, 404, 429) },
      detail: { summary: 'Read a browser session, with a fresh link to its live view' },
    })
    .get('/:id/live', (context) => browser.live(toCall(context), context.params.id, isFresh(context.query)), {
      scope: 'connectors',
      params: ById,
      query: Force,
      response: { 200: answer(words.LiveView), ...errors(400, 401, 403, 404, 429) },
      detail: { summary: 'Read the live view of a browser session and its tabs' },
    })
    .get('/:id/recording', (context) => browser.recording(toCall(context), context.params.id), {
      scope: 'connectors',
      params: ById,
      response: { 200: answer(Recording), ...errors(401, 403, 404, 429) },
      detail: { summary: 'List the steps of a browser session, with pictures' },
    })
    .delete('/:id', (context) => browser.stop(toCall(context), context.params.id), {
      scope: 'connectors',
      params: ById,
      response: { 200: answer(words.SessionEnd), ...errors(401, 403, 404, 429) },
      detail: { summary: 'End a browser session' },
    })
    .post('/:id/actions', (context) => browser.action(toCall(context), context.params.id, context.body), {
      scope: 'connectors',
      idempotent: true,
      timeLimit: 'own',
      params: ById,
      body: checked(words.ActionInput),
      response: { 200: answer(words.ActionResult), ...errors(400, 401, 403, 404, 409, 429, 503) },
      detail: { summary: 'Run one of the browser tools in a session' },
    })
