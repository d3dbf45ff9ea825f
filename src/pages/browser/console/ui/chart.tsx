import { useEffect, useId, useLayoutEffect, useRef, useState } from 'react'
import uPlot from 'uplot'
import { Button, saveFile } from './controls'
import { Grid } from './facts'
import { OTHER } from './format'

type Series = { key: string; label: string; values: readonly (number | null)[] }

type Props = {
  title: string
  /** Start of each bucket, in ISO format. */
  times: readonly string[]
  series: readonly Series[]
  /** Formats a value, for the axis and the table. */
  spell(value: number): string
  /** True if values add up. They are then bars, one on top of the other. */
  stacked?: boolean
  /** Time zone in which the days of the axis begin. */
  zone: string
  onRange?(from: string, to: string): void
}

const colour = (name: string) => getComputedStyle(document.documentElement).getPropertyValue(name).trim()
/** From the third series on, lines also differ by their dashes. */
const DASHES = [[], [], [6, 4], [2, 3], [8, 3, 2, 3], [1, 2]]
/** From the third series on, bars also differ by the lines across them, in tiles of 8 by 8. */
const HATCHES = ['', '', 'M-1 1 1-1M0 8 8 0M7 9 9 7', 'M7-1 9 1M0 0 8 8M-1 7 1 9', 'M0 4H8', 'M4 0V8']
const BAR = { share: 0.8, most: 32 }
const SO_FAR = [4, 3]
const WHOLE = Array.from({ length: 10 }, (_, n) => [1, 2, 5].map((step) => step * 10 ** n)).flat()
const DAY_S = 86_400
/** Formats a point of the axis in a time zone, as coarsely as the distance to the next point allows. */
function clockIn(timeZone: string) {
  const of = (options: Intl.DateTimeFormatOptions) => new Intl.DateTimeFormat('en-GB', { ...options, timeZone })
  const clock = of({ hour: '2-digit', minute: '2-digit' })
  const [day, month] = [of({ day: 'numeric', month: 'short' }), of({ month: 'short', year: 'numeric' })]
  return (at: number, step: number) => {
    const isMidnight = clock.format(at * 1_000) === '00:00'
    return (step < DAY_S && !isMidnight ? clock : step < 28 * DAY_S ? day : month).format(at * 1_000)
  }
}
const DARK = matchMedia('(prefers-color-scheme: dark)')

/** Values with a gap on both sides, which no line would show. */
function lonePoints({ data }: uPlot, index: number): number[] | null {
  const values = data[index]!
  const lone = [...values.keys()].filter(
    (at) => typeof values[at] === 'number' && typeof values[at - 1] !== 'number' && typeof values[at + 1] !== 'number',
  )
  return lone.length ? lone : null
}

/** True for the last bucket while it is not over. */
function isRunning(times: readonly string[], at: number): boolean {
  const [before, last] = times.slice(-2).map(Date.parse)
  return at === times.length - 1 && last !== undefined && Date.now() < 2 * last - before!
}

/** The fill of bars. */
function fillOf(tone: number): string | CanvasPattern {
  const fill = colour(`--c${tone}`)
  if (!HATCHES[tone - 1]) return fill
  const pen = new OffscreenCanvas(8, 8).getContext('2d')!
  pen.fillStyle = fill
  pen.fillRect(0, 0, 8, 8)
  pen.strokeStyle = colour('--ground')
  pen.lineWidth = 1.5
  pen.stroke(new Path2D(HATCHES[tone - 1]))
  return pen.createPattern(pen.canvas, 'repeat')!
}

/** The number of a series' colour. The fifth is that of the rest. */
const toneOf = (key: string, at: number): number => (key === OTHER ? 5 : at < 4 ? at + 1 : 6)

/** A chart of values over time, also as a table and as CSV. A bucket without a value is a gap. */
export function Chart({ title, times, series, spell, stacked, zone, onRange }: Props) {
  const box = useRef<HTMLDivElement>(null)
  const id = useId()
  const [hidden, setHidden] = useState<ReadonlySet<string>>(new Set())
  const [isTable, setTable] = useState(false)
  const [theme, setTheme] = useState(0)
  const shown = series.filter(({ key }) => !hidden.has(key))
  const [isNear, setNear] = useState(false)

  // Charts far below are drawn when they come near the visible area.
  useEffect(() => {
    const watch = new IntersectionObserver(([seen]) => seen!.isIntersecting && setNear(true), { rootMargin: '200px' })
    if (box.current) watch.observe(box.current)
    return () => watch.disconnect()
  }, [])

  useEffect(() => {
    const changed = () => setTheme((now) => now + 1)
    DARK.addEventListener('change', changed)
    const watch = new MutationObserver(changed)
    watch.observe(document.documentElement, { attributes: true, attributeFilter: ['data-theme'] })
    return () => {
      DARK.removeEventListener('change', changed)
      watch.disconnect()
    }
  }, [])

  // biome-ignore lint/correctness/useExhaustiveDependencies: runs again for other values or colours
  useLayoutEffect(() => {
    const place = box.current
    if (!place || isTable || !isNear) return
    const at = times.map((time) => Date.parse(time) / 1_000)
    const sums = at.map(() => 0)
    const raised = (value: number | null, n: number) => {
      sums[n]! += value ?? 0
      return value === null ? null : sums[n]!
    }
    // A stack is drawn from the top down, so that each bar covers the lower part of the previous one.
    const drawn = stacked
      ? shown.map(({ values }) => values.map(raised)).reverse()
      : shown.map(({ values }) => [...values])
    const styles = shown.map(({ key, label }) => {
      const index = series.findIndex((it) => it.key === key)
      const tone = toneOf(key, index)
      const stroke = colour(`--c${tone}`)
      const dash = stacked ? [] : DASHES[tone - 1]!
      return {
        ...{ label, stroke, width: 1.5, dash },
        points: { show: false, filter: lonePoints },
        ...(stacked
          ? { fill: fillOf(tone), width: 0, paths: uPlot.paths.bars!({ size: [BAR.share, BAR.most], align: 1 }) }
          : {}),
      }
    })
    const last = at.length - 1
    const running = isRunning(times, last)
    // The end of a line is one of its own, with dashes.
    const ends = running && !stacked ? drawn.map((values) => values.map((it, n) => (n < last - 1 ? null : it))) : []
    const tails = ends.map((_, n) => ({ ...styles[n]!, dash: SO_FAR }))
    if (!stacked && running) for (const values of drawn) if (values[last - 1] != null) values[last] = null
    // The bar of the running bucket is paler, and its outline has dashes.
    const outline = ({ ctx, valToPos }: uPlot) => {
      if (!stacked || !running || !sums[last]) return
      const [left, next] = [at[last]!, 2 * at[last]! - at[last - 1]!].map((x) => valToPos(x, 'x', true))
      const width = Math.min((next! - left!) * BAR.share, BAR.most * devicePixelRatio)
      const [top, bottom] = [sums[last]!, 0].map((y) => valToPos(y, 'y', true))
      ctx.save()
      ctx.fillStyle = colour('--ground')
      ctx.globalAlpha = 0.6
      ctx.fillRect(left!, top!, width, bottom! - top!)
      ctx.globalAlpha = 1
      ctx.strokeStyle = colour('--ink')
      ctx.setLineDash(SO_FAR.map((length) => length * devicePixelRatio))
      ctx.strokeRect(left!, top!, width, bottom! - top!)
      ctx.restore()
    }
    // Counts have no halves.
    const isWhole = drawn.flat().every((value) => value === null || Number.isInteger(value))
    const grid = { stroke: colour('--line'), width: 1 }
    const axis = { stroke: colour('--ink-2'), grid, ticks: { show: false }, font: '12px system-ui' }
    const height = innerWidth < 640 ? 160 : 220
    const spellTime = clockIn(zone)
    const plot = new uPlot(
      {
        width: place.clientWidth,
        height,
        legend: { show: false },
        tzDate: (at) => uPlot.tzDate(new Date(at * 1_000), zone),
        cursor: { y: false, drag: { x: onRange !== undefined, y: false, setScale: false }, points: { size: 6 } },
        scales: {
          // A bar begins at the start of its bucket, so the last one needs room.
          x: { range: (_, min, max) => [min, stacked ? max + (at[1] ?? at[0]! + DAY_S) - at[0]! : max] },
          y: { range: (_, __, max) => [0, max > 0 ? max * 1.08 : 1] },
        },
        series: [{}, ...(stacked ? styles.reverse() : styles), ...tails],
        axes: [
          { ...axis, size: 28, space: 72, values: (_, ticks, __, ___, step) => ticks.map((at) => spellTime(at, step)) },
          { ...axis, ...(isWhole ? { incrs: WHOLE } : {}), size: 64, space: 36, values: (_, it) => it.map(spell) },
        ],
        hooks: {
          draw: [outline],
          setSelect: [
            ({ select, posToVal }) => {
              if (select.width < 4 || !onRange) return
              const edge = (left: number) => new Date(posToVal(left, 'x') * 1_000).toISOString()
              onRange(edge(select.left), edge(select.left + select.width))
            },
          ],
          setCursor: [
            ({ cursor: { left = -1, idx }, posToVal }) => {
              const bar = at.findLastIndex((start) => start <= posToVal(left, 'x'))
              setPoint(left < 0 || (stacked && bar < 0) ? null : stacked ? bar : (idx ?? null))
            },
          ],
        },
      },
      [at, ...drawn, ...ends] as uPlot.AlignedData,
      place,
    )
    const resize = new ResizeObserver(() => plot.setSize({ width: place.clientWidth, height }))
    resize.observe(place)
    return () => {
      resize.disconnect()
      plot.destroy()
    }
  }, [times, series, hidden, isTable, theme, isNear])

  const [point, setPoint] = useState<number | null>(null)
  const lines = () => [
    ['time', ...series.map(({ label }) => label)],
    ...times.map((time, n) => [time, ...series.map(({ values }) => String(values[n] ?? ''))]),
  ]
  const csv = () =>
    lines()
      .map((line) => line.map((cell) => (/[",\n]/.test(cell) ? `"${cell.replaceAll('"', '""')}"` : cell)).join(','))
      .join('\n')
  const download = () =>
    saveFile(new Blob([csv()], { type: 'text/csv' }), `${title.toLowerCase().replaceAll(' ', '-')}.csv`)
  return (
    <section className="card chart" aria-labelledby={id}>
      <header>
        <h2 id={id}>{title}</h2>
        <Button kind="plain" aria-pressed={isTable} onClick={() => setTable(!isTable)}>
          Table
        </Button>
        <Button kind="plain" onClick={download}>
          CSV
        </Button>
      </header>
      {isTable ? (
        <Grid
          label={title}
          heads={lines()[0]!}
          rows={times.map((time, n) => ({
            key: time,
            cells: [
              time.slice(0, 16).replace('T', ' ') + (isRunning(times, n) ? ', so far' : ''),
              ...series.map(({ values }) => (values[n] === null ? '' : spell(values[n]!))),
            ],
          }))}
        />
      ) : (
        <div
          className="plot"
          ref={box}
          role="img"
          aria-label={`${title}, ${series.map(({ label }) => label).join(', ')}. The button Table shows the numbers.`}
        />
      )}
      <ul className="legend">
        {series.map(({ key, label, values }, n) => (
          <li key={key}>
            <button
              type="button"
              aria-pressed={!hidden.has(key)}
              onClick={() => {
                const next = new Set(hidden)
                if (!next.delete(key)) next.add(key)
                setHidden(next)
              }}
            >
              <svg
                className="swatch"
                viewBox="0 0 8 8"
                style={{ background: `var(--c${toneOf(key, n)})` }}
                aria-hidden="true"
              >
                {stacked && <path d={HATCHES[toneOf(key, n) - 1]} />}
              </svg>
              {label}
              {point !== null && values[point] != null && <b>{spell(values[point]!)}</b>}
            </button>
          </li>
        ))}
        {point !== null && times[point] && (
          <li className="point">
            {new Date(times[point]).toLocaleString('sv-SE', { timeZone: zone }).slice(0, 16)}
            {isRunning(times, point) && ', so far'}
          </li>
        )}
      </ul>
    </section>
  )
}
