import type { ComponentType, ReactNode } from 'react'
import { Facts, type FactsOf } from '../ui/facts'
import { Drawer } from '../ui/overlay'
import { Shown } from '../ui/states'
import { Actions, type ActionsProps } from './actions'
import { useGet, useOwner } from './api'
import { boot, type Owner } from './boot'

/** What opens for one row of a list, in this order: its look, actions, facts, and the body. */
export type DetailOf<Row> = {
  /** The route of one row. Without it, the loaded row of the list is shown. */
  path?(id: string, row?: Row): string | undefined
  /** The member of that route's answer that contains the row. Default: the answer itself. */
  member?: string
  titleOf(row: Row): ReactNode
  look?: ComponentType<{ row: Row }>
  /** `touches` is by default the path of the list. */
  actions?(row: Row, close: () => void, owner: Owner): Omit<ActionsProps, 'touches'> & { touches?: readonly string[] }
  facts?(row: Row, owner: Owner): FactsOf
  body?: ComponentType<{ row: Row; close(): void }>
  /** For editors: the drawer takes more of the page. */
  wide?: boolean
}

type Props<Row> = {
  detail: DetailOf<Row>
  /** The title of the screen. */
  title: string
  /** The path of the list. */
  list: string
  id: string
  row: Row | undefined
  close(): void
  leave(): void
}

/** The drawer of one row. */
export function Detail<Row>({ detail, title, list, id, row, close, leave }: Props<Row>) {
  const { member, titleOf, look: Look, actions, facts, body: Body, wide = false } = detail
  const owner = useOwner()
  const path = detail.path?.(id, row)
  const read = useGet<Record<string, unknown>>(path ?? '', {}, { off: !path })
  const whole = (member ? read.data?.[member] : read.data) as Row | undefined
  // The row of a list can have more members than the route of one row returns.
  const found = whole ? { ...row, ...whole } : row
  // Members of an operator's answer that are empty because of the role.
  const withheld = (read.data?.withheld ?? []) as string[]
  const of = path ? { ...read, data: found } : { ...read, data: row, isPending: false, error: null }
  return (
    <Drawer title={found ? titleOf(found) : title} label={title} onClose={leave} wide={wide}>
      {withheld.length > 0 && (
        <p className="faint">
          Your role {boot.operator_role} does not see what people wrote: {withheld.join(', ').replaceAll('_', ' ')}.
        </p>
      )}
      <Shown of={of}>
        {(data) => (
          <>
            {Look && <Look row={data} />}
            {actions && <Actions touches={[list]} {...actions(data, close, owner)} />}
            {facts && <Facts of={facts(data, owner)} />}
            {Body && <Body row={data} close={close} />}
          </>
        )}
      </Shown>
    </Drawer>
  )
}
