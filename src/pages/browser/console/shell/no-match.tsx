import { Button } from '../ui/controls'
import { whole } from '../ui/format'
import { Empty } from '../ui/states'
import { useOwner, usePages } from './api'
import type { Screen } from './screen'

type Props<Row> = {
  /** The filters in use, as `name:value`. */
  filters: readonly string[]
  list: Screen<Row>['list']
  path: string
  clear(): void
}

/** Says which filter hides all rows, and how many there are without it. */
export function NoMatch<Row>({ filters, list, path, clear }: Props<Row>) {
  const owner = useOwner()
  const query = typeof list.query === 'function' ? list.query(owner) : list.query
  const { rows, hasNextPage, isPlaceholderData } = usePages<Row>(path, list.rows, query)
  const found = rows?.filter((row) => list.isOf?.(row, owner) ?? true)
  return (
    <Empty
      text={
        <>
          No row matches <code>{filters.join(' ')}</code>.
        </>
      }
    >
      <Button onClick={clear}>Clear filter</Button>
      {found && !isPlaceholderData && (
        <span className="faint">
          {whole(found.length)}
          {hasNextPage ? ' or more' : ''} without it
        </span>
      )}
    </Empty>
  )
}
