import type { Wire } from '../kernel/store'

/**
 * Two wires as one: what cannot go over the first goes over the second, and both are heard, so that losing the first
 * loses nothing. What is wrong with the first is not told here.
 */
export function eitherWire(first: Wire, second: Wire): Wire {
  const leaves = new Map<Wire, () => Promise<void>>()
  return {
    send: (text) => (first.hearing() ? first.send(text).catch(() => second.send(text)) : second.send(text)),
    async hear(text, again) {
      if (!second.hearing()) leaves.set(second, await second.hear(text, again))
      if (!first.hearing()) {
        const leave = await first.hear(text, again).catch(() => null)
        if (leave) leaves.set(first, leave)
      }
      return async () => {
        await Promise.all([...leaves.values()].map((leave) => leave()))
      }
    },
    hearing: () => first.hearing() && second.hearing(),
  }
}
