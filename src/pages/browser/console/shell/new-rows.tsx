import { ArrowUp, Pause, Play } from 'lucide-react'
import { useState } from 'react'
import { Button, Chip } from '../ui/controls'
import { plural } from '../ui/format'
import type { Query } from './api'
import { useKeys } from './keys'
import { useLive } from './live'

type Props<Row> = {
  topic: string
  /** The filters of the list. The server applies them to new rows. */
  query: Query
  rows: readonly Row[]
  idOf(row: Row): string
  /** True while the reader is at a row, so nothing may move. */
  isHeld: boolean
  prepend(rows: readonly Row[]): void
  restart(): void
}

/** Scroll distance up to which the page counts as read from its top. */
const TOP_PX = 160
/** Maximum number of rows before the list restarts instead of growing. */
const MOST = 2_000

/** Adds new rows on top. While the reader is further down or has a row open, they wait behind a button. */
export function NewRows<Row>({ topic, query, rows, idOf, isHeld, prepend, restart }: Props<Row>) {
  const [isPaused, setPaused] = useState(false)
  const [waiting, setWaiting] = useState<readonly Row[]>([])
  const filters = Object.fromEntries(
    Object.entries(query)
      .filter(([name]) => name !== 'from')
      .map(([name, value]) => [`${topic}.${name}`, value]),
  )
  useLive(
    topic,
    ({ changed, skipped = 0 }) => {
      // Some rows were not reported, so all are read again.
      if (changed === undefined || (skipped > 0 && !isHeld) || rows.length > MOST) return restart()
      const known = new Set([...rows, ...waiting].map(idOf))
      const fresh = (changed as Row[]).filter((row) => !known.has(idOf(row)))
      if (isHeld || scrollY > TOP_PX) setWaiting((before) => [...fresh, ...before])
      else prepend(fresh)
    },
    { query: filters, off: isPaused },
  )
  const show = () => {
    prepend(waiting)
    setWaiting([])
    scrollTo({ top: 0 })
  }
  const pause = () => {
    setPaused(!isPaused)
    if (isPaused) restart()
  }
  useKeys([{ keys: 'p', label: isPaused ? 'Follow new rows' : 'Pause new rows', run: pause }])
  return (
    <div className="new-rows">
      <Chip state={isPaused ? 'off' : 'live'}>{isPaused ? 'paused' : 'live'}</Chip>
      <Button kind="plain" onClick={pause} icon={isPaused ? Play : Pause}>
        {isPaused ? 'Follow' : 'Pause'}
      </Button>
      <span role="status">
        {waiting.length > 0 && (
          <Button onClick={show} icon={ArrowUp}>
            {plural(waiting.length, 'new row')} above
          </Button>
        )}
      </span>
    </div>
  )
}
