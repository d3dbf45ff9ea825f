import type { RequestTrace } from '../../../../operators/schema'
import { Code } from './controls'
import { Lines, Part } from './facts'
import { duration, money } from './format'

export type Step = { name: string; at: number; ms: number; isFailed: boolean; facts: string }

/** The time of one call as bars, one per step, and as a list for readers who cannot see it. */
export function Waterfall({ steps, total }: { steps: readonly Step[]; total: number }) {
  // A call shorter than a millisecond has one bar over the whole width.
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

/** A request of `total` milliseconds for operators: its steps with their facts, its money, its records. */
export function Trace({ of: { steps, ledger, audit }, at, total }: { of: RequestTrace; at: string; total: number }) {
  const begun = Date.parse(at) - total
  return (
    <>
      {steps.length > 0 && (
        <Part title="Steps">
          <Waterfall
            total={total}
            steps={steps.map(({ name, at: ended, ms, facts }) => ({
              name,
              ms,
              at: Math.max(0, Date.parse(ended) - ms - begun),
              isFailed: facts.outcome === 'failed' || typeof facts.error === 'string',
              facts: Object.entries(facts)
                .filter(([, fact]) => typeof fact === 'string' || typeof fact === 'number')
                .map(([key, fact]) => `${key} ${fact}`)
                .slice(0, 4)
                .join(', '),
            }))}
          />
        </Part>
      )}
      {ledger.length > 0 && (
        <Part title="Ledger">
          <Lines
            of={ledger}
            line={({ ref, kind, amount_cents }) => ({
              key: `${ref} ${kind}`,
              mark: <b>{kind}</b>,
              text: ref,
              end: money(amount_cents),
            })}
          />
        </Part>
      )}
      {audit.length > 0 && (
        <Part title="Audit events">
          {audit.map(({ id, action, output }) => (
            <div key={id} className="recorded">
              {action}
              <Code text={JSON.stringify(output, null, 2)} label={action} />
            </div>
          ))}
        </Part>
      )}
    </>
  )
}
