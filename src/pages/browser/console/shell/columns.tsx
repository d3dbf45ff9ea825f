import { Columns3 } from 'lucide-react'
import { useMemo, useState } from 'react'
import { Link } from 'wouter'
import { column } from '../ui/columns'
import { Button, Check, End } from '../ui/controls'
import { useFilters } from '../ui/filters'
import { Dialog } from '../ui/overlay'
import type { Column } from '../ui/table'
import { keep, recall } from './value'

type Kept = { shown?: string[] | undefined; widths?: Record<string, number> | undefined }

const isFirst = (at: number) => at === 0

/**
 * The visible columns of a list and their widths: from `cols` in the address, else as stored in this browser, else the
 * screen's defaults. The first column is always visible, because it links to the row.
 */
export function useColumns<Row>(section: string, all: readonly Column<Row>[]) {
  const place = `columns:${section}`
  const { filters, set } = useFilters()
  const [kept, setKept] = useState(() => recall<Kept>(place, {}))
  const change = (next: Kept) => {
    setKept(next)
    keep(place, next.shown || next.widths ? next : null)
  }
  const names = filters.cols ?? kept.shown?.join(',')
  const columns = useMemo(() => {
    const chosen = all.filter(({ key, extra }, at) => isFirst(at) || (names ? names.split(',').includes(key) : !extra))
    return chosen.map((column) => {
      const width = kept.widths?.[column.key]
      return width ? { ...column, width: `${width}px` } : column
    })
  }, [all, names, kept.widths])
  const choose = (shown: string[] | undefined) => {
    change({ ...kept, shown })
    set({ cols: shown?.join(',') ?? '' })
  }
  return {
    columns,
    resize: (key: string, width: number) => change({ ...kept, widths: { ...kept.widths, [key]: width } }),
    chooser: (
      <Chooser
        all={all as readonly Column<never>[]}
        shown={columns.map(({ key }) => key)}
        widths={kept.widths ?? {}}
        onChoose={choose}
        onResize={(widths) => change({ ...kept, widths })}
        onReset={() => {
          change({})
          set({ cols: '' })
        }}
      />
    ),
  }
}

type ChooserProps = {
  all: readonly Column<never>[]
  shown: readonly string[]
  widths: Record<string, number>
  onChoose(shown: string[]): void
  onResize(widths: Record<string, number>): void
  onReset(): void
}

function Chooser({ all, shown, widths, onChoose, onResize, onReset }: ChooserProps) {
  const [isOpen, setOpen] = useState(false)
  return (
    <>
      <Button className="columns-button" onClick={() => setOpen(true)} icon={Columns3}>
        Columns
      </Button>
      {isOpen && (
        <Dialog title="Columns" onClose={() => setOpen(false)}>
          <p className="faint">This browser remembers them. Where there is no room, the rightmost are left out.</p>
          <ul className="columns-list">
            {all.map(({ key, head }, at) => (
              <li key={key}>
                <Check
                  label={head}
                  checked={shown.includes(key)}
                  disabled={isFirst(at)}
                  onChange={(is) =>
                    onChoose(all.map((one) => one.key).filter((one) => (one === key ? is : shown.includes(one))))
                  }
                />
                <input
                  type="range"
                  min={48}
                  max={480}
                  step={8}
                  aria-label={`Width of ${head}`}
                  aria-valuetext={widths[key] ? `${widths[key]} pixels` : 'by itself'}
                  value={widths[key] ?? 48}
                  onChange={({ target }) => onResize({ ...widths, [key]: Number(target.value) })}
                />
              </li>
            ))}
          </ul>
          <End onClose={() => setOpen(false)}>
            <Button onClick={onReset}>Reset</Button>
          </End>
        </Dialog>
      )}
    </>
  )
}

/** The owner of a row, as operators name them. Null if the row does not contain it. */
function ownerOf(row: unknown): string | null {
  const { owner, org_id, user_id, orgId, userId } = row as Record<string, string | null | undefined>
  if (owner) return owner
  const [org, user] = [org_id ?? orgId, user_id ?? userId]
  return org ? `org:${org}` : user ? `user:${user}` : null
}

/** Adds a column to a list of all owners that links each row to its owner. */
export const withOwner = <Row,>(columns: readonly Column<Row>[]): readonly Column<Row>[] => [
  ...columns.slice(0, 1),
  column('owner', 'Owner', {
    cell: (row) => {
      const name = ownerOf(row)
      return name && /^(org|user):/.test(name) ? <Link href={`/${name}`}>{name}</Link> : (name ?? '–')
    },
  }),
  ...columns.slice(1),
]
