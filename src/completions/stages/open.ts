import type { ConversationService } from '../../conversations'
import type { Call } from '../../kernel/caller'
import type { Clock } from '../../kernel/clock'
import { type Ask, cacheKeyOf } from '../ask'
import { startDeadline } from '../deadline'
import type { Opened } from '../run'
import { CompletionId } from '../schema'

type Deps = { clock: Clock; conversations: ConversationService; cacheEnabled: boolean }

const PLAIN_TIMEOUT_MS = 120_000
const STREAM_TIMEOUT_MS = 600_000

/** Reads what the request builds on and starts its clock. Throws 404 `not_found` on a foreign conversation. */
export function createOpen({ clock, conversations, cacheEnabled }: Deps) {
  return async function open(call: Call, ask: Ask, stream: boolean): Promise<Opened> {
    const attached = typeof ask.conversation === 'object' ? ask.conversation.attach : null
    const stored = attached ? await conversations.history(call.caller.userId, attached) : null
    return {
      id: CompletionId.create(),
      call,
      ask,
      stream,
      startedAt: clock.monotonic(),
      history: [...(stored?.turns ?? []), ...ask.context],
      attached: stored?.id ?? null,
      cacheKey: cacheEnabled && ask.cache !== 'off' ? cacheKeyOf(call, ask) : null,
      deadline: startDeadline(clock, call.signal, stream ? STREAM_TIMEOUT_MS : PLAIN_TIMEOUT_MS),
    }
  }
}
