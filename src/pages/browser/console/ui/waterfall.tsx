import { duration } from './format'

export type Step = { name: string; at: number; ms: number; isFailed: boolean; facts: string }

/** Where the time of one call went: a bar for each step, and the same as a list for who cannot see it. */
export function Waterfall({ steps, total }: { steps: readonly Step[]; total: number }) {
  // A call of less than a millisecond has one bar, over the whole.
  const share = (ms: number, whole = 0) => `${total > 0 ? Math.min(100, (ms / total) * 100) : whole}%`
  return (
    <ol className="waterfall">
      {steps.map(({ name, at, ms, isFailed, facts }, n) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: a tool can have run twice, and the list never changes
        <li key={n}>
          <span>
            {name} {facts && <small>{facts}</small>}
          </span>
          <b>{duration(ms)}</b>
          <span className="track" aria-hidden="true">
            <span className={isFailed ? 'failed-step' : ''} style={{ left: share(at), width: share(ms, 100) }} />
          </span>
        </li>
      ))}
    </ol>
  )
}
