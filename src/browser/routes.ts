import type { Guard } from '../http/guard'
import type { OperatorEdge } from '../http/operator-edge'
import { operatorRoutes, tenantRoutes, tenantVerb, verb } from '../http/verbs'
import * as words from './schema'
import type { BrowserService } from './service'
import * as sessions from './sessions'
import { startSession } from './start'

const PATH = '/browser/sessions'
const ONE = `${PATH}/:id` as const
/** The page that is open, and links to look at it. */
const PAGE = ['live_view_url', 'embed_url', 'current_url', 'current_title', 'favicon_url']

const isFresh = ({ force }: { force?: string }): boolean => force === '1' || force === 'true'

const stopVerb = ({ deps }: BrowserService) =>
  verb(
    { method: 'delete', path: ONE, reply: words.SessionEnd, errors: [404], summary: 'End a browser session' },
    (call, { id }) => sessions.stopSession(deps, call, id),
  )

const actionVerb = ({ deps }: BrowserService) =>
  verb(
    {
      method: 'post',
      path: `${ONE}/actions`,
      body: words.ActionInput,
      reply: words.ActionResult,
      idempotent: true,
      timeLimit: 'own',
      errors: [404, 409, 503],
      summary: 'Run one of the browser tools in a session',
    },
    (call, { id, body }) => sessions.actIn(deps, call, id, body),
  )

/** `/browser` (contract 16.1). */
export const browserRoutes = (browser: BrowserService, guard: Guard) =>
  tenantRoutes(
    [
      tenantVerb(
        {
          method: 'post',
          path: PATH,
          body: words.NewSession,
          reply: words.SessionHandle,
          creates: true,
          timeLimit: 'own',
          errors: [402, 409, 501, 503],
          summary: 'Start a browser session',
          description:
            '`embed_url` is the source of an iframe. The session ends after 20 minutes, or after 5 minutes without activity.',
        },
        (call, { body }) => startSession(browser.deps, call, body),
      ),
      tenantVerb(
        { method: 'get', path: PATH, reply: words.SessionList, summary: 'List your open browser sessions' },
        (call) => sessions.listSessions(browser.deps, call),
      ),
      tenantVerb(
        {
          method: 'get',
          path: ONE,
          query: words.ForceQuery,
          reply: words.SessionSnapshot,
          errors: [404],
          summary: 'Read a browser session, with a fresh link to its live view',
        },
        (call, { id, query }) => sessions.getSession(browser.deps, call, id, isFresh(query)),
      ),
      tenantVerb(
        {
          method: 'get',
          path: `${ONE}/live`,
          query: words.ForceQuery,
          reply: words.LiveView,
          errors: [404],
          summary: 'Read the live view of a browser session and its tabs',
        },
        async (call, { id, query }) =>
          sessions.liveOf(browser.deps, await sessions.findSession(browser.deps, call, id), isFresh(query)),
      ),
      recordingVerb(browser, 'List the steps of a browser session, with pictures'),
      stopVerb(browser),
      actionVerb(browser),
    ],
    guard,
    { scope: 'connectors', tag: 'Browser' },
  )

const recordingVerb = ({ deps }: BrowserService, summary: string) =>
  verb(
    {
      method: 'get',
      path: `${ONE}/recording`,
      holds: 'content',
      reply: words.Recording,
      // It shows what people saw and typed.
      role: 'support',
      errors: [404],
      summary,
    },
    async (call, { id }) => sessions.recordingOf(deps, await sessions.findSession(deps, call, id)),
  )

/** `/ops/v1/browser`: the sessions of everyone (dx 2.15). */
export const browserOperatorRoutes = (browser: BrowserService, edge: OperatorEdge) =>
  operatorRoutes(
    [
      verb(
        {
          method: 'get',
          path: PATH,
          holds: PAGE,
          reply: words.OverseenList,
          owned: true,
          summary: 'List the open browser sessions of all owners',
        },
        (_, { owner }) => sessions.listOverseen(browser.deps, owner),
      ),
      verb(
        { method: 'get', path: ONE, holds: PAGE, reply: words.OverseenSession, summary: 'Read a browser session' },
        (call, { id }) => sessions.getOverseen(browser.deps, call, id),
      ),
      recordingVerb(browser, 'List the steps of a browser session'),
      verb(
        {
          method: 'post',
          path: `${ONE}/link`,
          body: words.LinkInput,
          reply: words.SessionLink,
          holds: 'links',
          role: 'support',
          summary: 'Create a link to the live view of a browser session',
        },
        (call, { id, body }) => sessions.createLink(browser.deps, call, id, body),
      ),
      actionVerb(browser),
      stopVerb(browser),
    ],
    edge,
  )
