import type { OperatorEdge } from '../http/operator-edge'
import { operatorRoutes, verb } from '../http/verbs'
import type { Call, OperatorCaller } from '../kernel/caller'
import {
  ActionInput,
  ActionResult,
  LinkInput,
  OverseenList,
  OverseenSession,
  Recording,
  SessionEnd,
  SessionLink,
} from './schema'
import type { BrowserService } from './service'

/** The page that is open, and links to look at it. */
const PAGE = ['live_view_url', 'embed_url', 'current_url', 'current_title', 'favicon_url']

/** `/ops/v1/browser`: the sessions of everyone (dx 2.15). */
export const browserOperatorRoutes = (browser: BrowserService, edge: OperatorEdge) =>
  operatorRoutes(
    [
      verb(
        {
          method: 'get',
          path: '/browser/sessions',
          holds: PAGE,
          reply: OverseenList,
          owned: true,
          summary: 'List the open browser sessions of all owners',
        },
        (_, { owner }) => browser.operatorAccess.list(owner),
      ),
      verb(
        {
          method: 'get',
          path: '/browser/sessions/:id',
          holds: PAGE,
          reply: OverseenSession,
          summary: 'Read a browser session',
        },
        (_, { id }) => browser.operatorAccess.get(id),
      ),
      verb(
        {
          method: 'get',
          path: '/browser/sessions/:id/recording',
          holds: 'content',
          reply: Recording,
          // It shows what people saw and typed.
          role: 'support',
          summary: 'List the steps of a browser session',
        },
        (call, { id }) => browser.recording(call, id),
      ),
      verb(
        {
          method: 'post',
          path: '/browser/sessions/:id/link',
          body: LinkInput,
          reply: SessionLink,
          holds: 'links',
          role: 'support',
          summary: 'Create a link to the live view of a browser session',
        },
        (call, { id, body }) => browser.operatorAccess.link(call as Call<OperatorCaller>, id, body),
      ),
      verb(
        {
          method: 'post',
          path: '/browser/sessions/:id/actions',
          body: ActionInput,
          reply: ActionResult,
          summary: 'Run one of the browser tools in a session',
        },
        (call, { id, body }) => browser.action(call, id, body),
      ),
      verb(
        { method: 'delete', path: '/browser/sessions/:id', reply: SessionEnd, summary: 'End a browser session' },
        (call, { id }) => browser.stop(call, id),
      ),
    ] as const,
    edge,
  )
