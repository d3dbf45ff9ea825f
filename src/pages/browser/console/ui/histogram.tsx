import { useState } from 'react'
import { clock, dayOf } from './format'

type Props = {
  label: string
  /** Start of each bucket in ISO format, its total, and its failures. */
  buckets: readonly { at: string; many: number; failed: number }[]
  /** Text of a bucket when the pointer is on it. */
  spell(bucket: Props['buckets'][number]): string
  /** Called with the first and the last selected bucket, both included. */
  onRange(from: number, to: number): void
}

/** Counts over time, as bars. Dragging over them selects their period. */
export function Histogram({ label, buckets, spell, onRange }: Props) {
  const [pulled, setPulled] = useState<[from: number, to: number] | null>(null)
  const most = Math.max(1, ...buckets.map(({ many }) => many))
  const share = (value: number) => (value === 0 ? 0 : Math.max(4, (value / most) * 100))
  const at = ({ clientX, currentTarget }: React.PointerEvent) => {
    const { left, width } = currentTarget.getBoundingClientRect()
    return Math.max(0, Math.min(buckets.length - 1, Math.floor(((clientX - left) / width) * buckets.length)))
  }
  const days = new Set([buckets[0], buckets.at(-1)].map((end) => end && dayOf(end.at)))
  const endOf = (iso: string) => (days.size === 1 ? clock.format(new Date(iso)) : dayOf(iso))
  const [first, last] = pulled ? [Math.min(...pulled), Math.max(...pulled)] : [-1, -1]
  return (
    <figure className="activity">
      <div
        className="histogram"
        role="img"
        aria-label={label}
        onPointerDown={(event) => {
          event.currentTarget.setPointerCapture(event.pointerId)
          setPulled([at(event), at(event)])
        }}
        onPointerMove={(event) => pulled && setPulled([pulled[0], at(event)])}
        onPointerUp={() => {
          if (pulled) onRange(first, last)
          setPulled(null)
        }}
        onPointerCancel={() => setPulled(null)}
      >
        {buckets.map((bucket, n) => (
          <span key={bucket.at} title={spell(bucket)} className={n >= first && n <= last ? 'pulled' : ''}>
            <span className="bad" style={{ height: `${share(bucket.failed)}%` }} />
            <span style={{ height: `${share(bucket.many) - share(bucket.failed)}%` }} />
          </span>
        ))}
      </div>
      <figcaption className="faint">
        {buckets[0] && <span>{endOf(buckets[0].at)}</span>}
        <span>{label}. Drag over a part to see its time alone.</span>
        {buckets.length > 1 && <span>{endOf(buckets.at(-1)!.at)}</span>}
      </figcaption>
    </figure>
  )
}
