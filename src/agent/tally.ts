import type { Emit, Spent, Thought } from './schema'
import type { Turn } from './turn'

const SILENT = 'The engine returned no text; "tools_used" has the results of its tools.'

/** Separates the texts of two turns. */
const GAP = '\n\n'

/** Adds up the turns of one thought: text, tokens and how it ended. */
export function createTally(spent: Spent) {
  let content = ''
  let reasoning = ''
  let fallbackUsed = false
  let ttftMs: number | null = null
  let last: Turn | null = null

  function add(turn: Turn): void {
    const { engineId, free, promptTokens, completionTokens } = turn
    spent.turns.push({ engineId, free, promptTokens, completionTokens })
    const said = turn.text || turn.refusal
    content += content && said ? GAP + said : said
    reasoning += reasoning && turn.reasoning ? GAP + turn.reasoning : turn.reasoning
    spent.said = content.length
    fallbackUsed ||= turn.fallbackUsed
    ttftMs ??= turn.ttftMs
    last = turn
  }

  /** Emits the steps of the next turn, with `GAP` first when earlier turns had text: the pieces are the content. */
  function following(emit: Emit): Emit {
    let due = content !== ''
    return (step) => {
      if (!due || step.type !== 'text') return emit(step)
      due = false
      const behind = emit({ type: 'text', text: GAP })
      return behind ? behind.then(() => emit(step)) : emit(step)
    }
  }

  /** Ends the thought with the turn that answers. */
  function end(turn: Turn, why?: string): Thought {
    add(turn)
    const finish = turn.finish === 'tool-calls' ? 'stop' : turn.finish
    return thought(turn, finish, why)
  }

  /** Ends with calls that the client makes itself. */
  function handOver(turn: Turn, toolCalls: Thought['toolCalls']): Thought {
    add(turn)
    return { ...thought(turn, 'tool-calls'), toolCalls, warnings: [] }
  }

  /** Ends without another turn: the text so far is the answer; without any text the refusal is thrown. */
  function cutShort(why: string, refusal: () => Error): Thought {
    if (!content || !last) throw refusal()
    return thought(last, 'length', why)
  }

  function thought({ engineId, refusal }: Turn, finish: Thought['finish'], why?: string): Thought {
    const sum = (count: (turn: Spent['turns'][number]) => number) =>
      spent.turns.reduce((all, turn) => all + count(turn), 0)
    return {
      content,
      reasoning,
      refusal,
      finish,
      engineId,
      fallbackUsed,
      ttftMs,
      toolCalls: [],
      turns: spent.turns,
      toolUses: spent.uses,
      warnings: [...(why ? [why] : []), ...silence()],
      free: spent.turns.every(({ free }) => free),
      promptTokens: sum(({ promptTokens }) => promptTokens),
      completionTokens: sum(({ completionTokens }) => completionTokens),
    }
  }

  /** The warning for an answer without text: an engine may end with a call that is not run. */
  const silence = () => (content.trim() || !spent.uses.length ? [] : [SILENT])

  return { add, following, end, handOver, cutShort }
}
