import type { Guard } from '../http/guard'
import { operator, tenant, tenantRoutes, verb } from '../http/verbs'
import { presentOverseen } from './present'
import * as words from './schema'
import type { BrowserService } from './service'
import * as sessions from './sessions'
import { startSession } from './start'

const PATH = '/browser/sessions'
const ONE = `${PATH}/:id` as const
/** Members about the open page, and links to view it. */
const PAGE = ['live_view_url', 'embed_url', 'current_url', 'current_title', 'favicon_url']

const isFresh = ({ force }: { force?: string }): boolean => force === '1' || force === 'true'

/** `/browser` (docs/api.md 16.1). Operators see the sessions of everyone (docs/operating.md 2.15). */
export const browserVerbs = ({ deps }: BrowserService) => [
  tenant.post(
    PATH,
    {
      body: words.NewSession,
      reply: words.SessionHandle,
      creates: true,
      timeLimit: 'own',
      errors: [402, 409, 501, 503],
      summary: 'Start a browser session',
      description:
        '`embed_url` is the source of an iframe. The session ends after 20 minutes, or after 5 minutes without activity.',
    },
    (call, { body }) => startSession(deps, call, body),
  ),
  verb.get(
    PATH,
    {
      reply: words.SessionList,
      holds: PAGE,
      owned: true,
      operators: { reply: words.OverseenList },
      summary: 'List your open browser sessions',
    },
    (call, { owner }) => sessions.listSessions(deps, call, owner),
  ),
  tenant.get(
    ONE,
    {
      query: words.ForceQuery,
      reply: words.SessionSnapshot,
      errors: [404],
      summary: 'Read a browser session, with a fresh link to its live view',
    },
    (call, { id, query }) => sessions.getSession(deps, call, id, isFresh(query)),
  ),
  operator.get(ONE, { holds: PAGE, reply: words.OverseenSession }, async (call, { id }) =>
    presentOverseen(deps, await sessions.findSession(deps, call, id)),
  ),
  tenant.get(
    `${ONE}/live`,
    {
      query: words.ForceQuery,
      reply: words.LiveView,
      errors: [404],
      summary: 'Read the live view of a browser session and its tabs',
    },
    async (call, { id, query }) => sessions.liveOf(deps, await sessions.findSession(deps, call, id), isFresh(query)),
  ),
  operator.post(
    `${ONE}/link`,
    {
      body: words.LinkInput,
      reply: words.SessionLink,
      holds: 'links',
      role: 'support',
    },
    (call, { id, body }) => sessions.createLink(deps, call, id, body),
  ),
  // Needs the right `content`, because it shows what people saw and typed.
  verb.get(
    `${ONE}/recording`,
    {
      holds: 'content',
      reply: words.Recording,
      role: 'support',
      errors: [404],
      summary: 'List the steps of a browser session, with pictures',
    },
    async (call, { id }) => sessions.recordingOf(deps, await sessions.findSession(deps, call, id)),
  ),
  verb.delete(ONE, { reply: words.SessionEnd, errors: [404], summary: 'End a browser session' }, (call, { id }) =>
    sessions.stopSession(deps, call, id),
  ),
  verb.post(
    `${ONE}/actions`,
    {
      body: words.ActionInput,
      reply: words.ActionResult,
      idempotent: true,
      timeLimit: 'own',
      errors: [404, 409, 503],
      summary: 'Run one of the browser tools in a session',
    },
    (call, { id, body }) => sessions.actIn(deps, call, id, body),
  ),
]

export const browserRoutes = (browser: BrowserService, guard: Guard) =>
  tenantRoutes(browserVerbs(browser), guard, { scope: 'connectors', tag: 'Browser' })
