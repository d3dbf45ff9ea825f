import { Plus } from 'lucide-react'
import { type ComponentType, lazy, type ReactNode, Suspense, useCallback, useEffect, useState } from 'react'
import { Link, useLocation, useParams, useSearch } from 'wouter'
import type { OperatorRole } from '../../../../kernel/caller'
import { Button, Choices } from '../ui/controls'
import { FilterBar, useFilters } from '../ui/filters'
import { Ask, Drawer } from '../ui/overlay'
import { Empty, Failed, Loading, More } from '../ui/states'
import { type Column, focusedRow, focusRow, Mark, type MenuOf, pressInRow, Table } from '../ui/table'
import { part, type Query, useMay, useOwner, usePages } from './api'
import { mayOperate, type Owner } from './boot'
import { useColumns, withOwner } from './columns'
import { Detail, type DetailOf } from './detail'
import { Form, type FormProps, unsaved } from './form'
import { useKeys } from './keys'
import { Marked } from './marks'
import { NewRows } from './new-rows'
import { NoMatch } from './no-match'
import { manyOf, NoRight } from './no-right'
import { Page } from './page'
import { isMatch, type ListFilter, useFilterQuery } from './range'
import { type Line, SaveAs } from './save-as'
import { denseRows } from './value'
import { SavedViews } from './views'

/*
 * How a screen is declared. An ordinary section is a list with filters, a drawer with the details of one row, and a
 * form for a new one. `sections/<name>/<name>.tsx` exports the definition as default:
 *
 *   export default defineScreen<Webhook>('webhooks', 'Webhooks', {   // its part of the address, and its title
 *     list: { path: '/webhooks', rows: 'webhooks' },        // GET /api/v1/webhooks, paged by cursor
 *     columns: [{ key: 'url', head: 'Endpoint', cell: ({ url }) => url, main: true }, …],   // the first links to the row
 *     filters: [{ name: 'status', label: 'Status', values: [['active', 'Active']] }],       // names of the route's query
 *     empty: { text: 'No endpoints.', command: 'svc-admin webhooks create URL' },
 *     detail: { path: (id) => `/webhooks/${id}`, titleOf: ({ url }) => url, body: WebhookDetail },
 *     create: { label: 'Add endpoint', permission: 'manageWebhooks', form: WebhookForm },
 *   })
 *
 * Then list the section in `sections.ts`. This module provides the loading, empty, failing and forbidden states, the
 * address, keys and the small screen. `body` and `form` use `ui` for display and `shell/api` (`useGet`, `useSend`) for
 * calls. A section imports no other section. A screen of another kind is a component that returns `<Page title="…">`.
 */
export type Screen<Row> = {
  /**
   * `rows` names the member of the answer that contains the rows, or extracts them. `query` is sent with every page.
   * `everyMs` reads the first page again periodically.
   */
  list: {
    path: string | ((owner: Owner) => string)
    rows: string | ((page: never) => Row[])
    query?: Query | ((owner: Owner) => Query)
    everyMs?: number
    /** The topic of `GET /live` that reports new rows in the route's format. */
    live?: string
    /** Selects this owner's rows from a list of several owners. */
    isOf?(row: Row, owner: Owner): boolean
  }
  /** Default: the member `id`. */
  idOf?(row: Row): string
  columns: readonly Column<Row>[]
  filters?: readonly ListFilter<Row>[]
  /** The route that returns the filtered rows as a file, its formats, and the members that the file has of a row. */
  file?: { path: string; formats: readonly string[]; line(row: Row): Line }
  empty: { text: ReactNode; command?: string; link?: { text: string; section: string } }
  detail?: DetailOf<Row>
  create?: {
    label: string
    permission?: string
    /** For operators: the role that may do it besides the admin. */
    role?: OperatorRole
    wide?: boolean
    /** A component, or what a form sends to the path of the list. */
    form?: ComponentType<{ close(): void }> | NewForm
    /** A hook, for a form that depends on the owner or on loaded data. */
    useForm?(): NewForm
  }
  /** An operators' screen: what they create there belongs to the server. On other screens they create nothing. */
  isOperators?: boolean
  /** True if its filters can be saved under a name. */
  views?: true
  /** Content of a row's tile in a gallery, which readers can choose instead of the list. */
  tile?(row: Row): ReactNode
  /** True if the gallery is shown first, and the list is what readers can choose. */
  isGallery?: true
  /** Content above the list. `query` is the query of the list. */
  above?: ComponentType<{ query: Query }>
}

type NewForm = Pick<FormProps<never>, 'fields' | 'values' | 'more' | 'permission' | 'disabled'> &
  Partial<Pick<FormProps<never>, 'method' | 'path' | 'touches' | 'verb'>> & {
    /** Text above the fields. */
    lead?: ReactNode
    /** What replaces the form once it is sent, such as a secret that is shown once. By default the drawer closes. */
    after?(answer: never, close: () => void): ReactNode
  }

const RowMenu = lazy(() => part(() => import('./row-menu')))

/** Maximum number of rows to load for sorting. */
const MAX_SORTED = 500

/** A list at an address below the owner's, with what opens from it. */
export function defineScreen<Row>(section: string, title: string, screen: Screen<Row>): ComponentType {
  const ofAll = withOwner(screen.columns)
  return function ListScreen() {
    const { list, idOf = ownId, filters = [], empty, detail, tile } = screen
    const { above: Above } = screen
    const owner = useOwner()
    const create = owner.looksAt === undefined || screen.isOperators ? screen.create : undefined
    const { columns, resize, chooser } = useColumns(
      section,
      owner.looksAt === null && !screen.isOperators ? ofAll : screen.columns,
    )
    const { id: open } = useParams<{ id?: string }>()
    const [, navigate] = useLocation()
    const search = useSearch()
    const { filters: values, set, clear } = useFilters()
    const [active, setActive] = useState(-1)
    const query = useFilterQuery(filters, values, typeof list.query === 'function' ? list.query(owner) : list.query)
    const path = typeof list.path === 'function' ? list.path(owner) : list.path
    const { rows: all, ...pages } = usePages<Row>(path, list.rows, query, list.everyMs)
    const local = filters.filter(({ name, match }) => match && values[name])
    const unsorted = all?.filter(
      (row) => (list.isOf?.(row, owner) ?? true) && local.every((it) => isMatch(it, row, values[it.name]!)),
    )
    // Sorting needs all rows, so they are loaded first, up to a limit.
    const loaded = all?.length ?? 0
    const isShort = Boolean(values.sort) && pages.hasNextPage && loaded < MAX_SORTED
    const { isFetchingNextPage, fetchNextPage } = pages
    useEffect(() => {
      if (isShort && !isFetchingNextPage) void fetchNextPage()
    }, [isShort, isFetchingNextPage, fetchNextPage])
    const rows = unsorted && !isShort ? sortedBy(unsorted, columns, values.sort) : unsorted
    const sort = (key: string) => {
      // Readers usually look for the highest figures and the newest times first.
      const ways = columns.find((column) => column.key === key)?.number ? [`-${key}`, key, ''] : [key, `-${key}`, '']
      set({ sort: ways[(ways.indexOf(values.sort ?? '') + 1) % ways.length]! })
    }
    const base = `/${owner.slug}/${section}`
    const newAt = `${base}/new${search && `?${search}`}`
    const linkOf = (id: string) => `${base}/${encodeURIComponent(id)}${search && `?${search}`}`
    const close = () => navigate(base + (search && `?${search}`))
    const [marks, setMarks] = useState<ReadonlySet<string>>(new Set())
    const marked = rows?.filter((row) => marks.has(idOf(row))) ?? []
    const mark = useCallback((id: string) => setMarks((before) => before.symmetricDifference(new Set([id]))), [])
    const canMark = detail?.actions !== undefined
    const [isLeaving, setLeaving] = useState(false)
    const leave = () => (unsaved.get() ? setLeaving(true) : close())
    const move = (by: number) => {
      const count = rows?.length ?? 0
      const from = focusedRow()
      if (!count) return
      const next = Math.max(0, Math.min(count - 1, (from < 0 ? active : from) + by))
      setActive(next)
      // It may have been the active row before, while the focus was elsewhere.
      focusRow(next)
    }
    const [menu, setMenu] = useState<MenuOf<Row> | null>(null)
    const walk = (by: number) => {
      const now = rows?.findIndex((row) => idOf(row) === open) ?? -1
      const next = rows?.[now + by]
      if (detail && now >= 0 && next) navigate(linkOf(idOf(next)))
    }
    const mayHere = useMay(create?.permission ?? '') || create?.permission === undefined
    const may = create?.role ? mayOperate(create.role) : mayHere
    useKeys([
      { keys: 'j', label: 'Next row, as ↓', run: () => move(1) },
      { keys: 'k', label: 'Row before, as ↑', run: () => move(-1) },
      { keys: 'Home', label: 'First row', run: () => move(Number.NEGATIVE_INFINITY) },
      ...(canMark ? [{ keys: 'x', label: 'Mark the row', run: () => pressInRow('.mark-box', active) }] : []),
      ...(detail ? [{ keys: 'm', label: 'Menu of the row', run: () => pressInRow('.row-menu button', active) }] : []),
      { keys: ']', label: 'Details of the next row', run: () => walk(1) },
      { keys: '[', label: 'Details of the row before', run: () => walk(-1) },
      ...(open && open !== 'new'
        ? [
            { keys: 'c', label: 'Copy its id', run: () => void navigator.clipboard?.writeText(open) },
            { keys: 'C', label: 'Copy its link', run: () => void navigator.clipboard?.writeText(location.href) },
          ]
        : []),
      ...(create && may ? [{ keys: 'n', label: create.label, run: () => navigate(newAt) }] : []),
    ])
    const usual = screen.isGallery ? 'gallery' : 'list'
    const isGallery = tile !== undefined && (values.view ?? usual) === 'gallery'
    const isFiltered = filters.some(({ name }) => values[name])
    // A page of a list that is searched in steps can be empty and have a next one.
    const isSearching = rows?.length === 0 && (pages.hasNextPage || pages.isPlaceholderData)
    // Nothing is here yet, so there is nothing to filter, choose or save.
    const isNew = rows?.length === 0 && !isSearching && !isFiltered
    useEffect(() => {
      if (isSearching && !pages.isFetching) void pages.fetchNextPage()
    }, [isSearching, pages.isFetching, pages.fetchNextPage])
    const button = create && (
      <Button kind="primary" disabled={!may} onClick={() => navigate(newAt)} icon={Plus}>
        {create.label}
      </Button>
    )
    return (
      <Page
        title={title}
        actions={
          <>
            {screen.file && !isNew && (
              <SaveAs {...screen.file} section={section} query={query} lines={rows?.map(screen.file.line)} />
            )}
            {tile && rows && rows.length > 0 && (
              <Choices
                label="View"
                value={isGallery ? 'gallery' : 'list'}
                choices={{ list: 'List', gallery: 'Gallery' }}
                onChange={(view) => set({ view: view === usual ? '' : view })}
              />
            )}
            {!isGallery && !isNew && chooser}
            {!(isNew && may) && button}
          </>
        }
        isBusy={pages.isFetching && !pages.isPending}
      >
        {create && !may && <NoRight what={manyOf(create.label)} role={create.role} />}
        {Above && <Above query={query} />}
        {filters.length > 0 && !isNew && <FilterBar filters={filters} values={values} onChange={set} onClear={clear} />}
        <div className="above-rows">
          {list.live && !query.to && rows && (
            <NewRows
              topic={list.live}
              query={query}
              rows={all as readonly Row[]}
              idOf={idOf}
              isHeld={active >= 0 || open !== undefined}
              prepend={pages.prepend}
              restart={pages.restart}
            />
          )}
          {screen.views && owner.looksAt === undefined && <SavedViews section={section} />}
        </div>
        {rows === undefined && pages.error && <Failed problem={pages.error} retry={() => void pages.refetch()} />}
        {((rows === undefined && !pages.error) || isSearching) && <Loading rows={8} />}
        {isNew && (
          <Empty text={empty.text} {...(empty.command && may ? { command: empty.command } : {})}>
            {may && button}
            {empty.link && owner.looksAt === undefined && (
              <Link className="button quiet" href={`/${owner.slug}/${empty.link.section}`}>
                {empty.link.text}
              </Link>
            )}
          </Empty>
        )}
        {rows?.length === 0 && !isSearching && isFiltered && (
          <NoMatch
            filters={filters.filter(({ name }) => values[name]).map(({ name }) => `${name}:${values[name]}`)}
            {...{ list, path, clear }}
          />
        )}
        {detail && marked.length > 0 && (
          <Marked rows={marked} detail={detail} list={path} onClear={() => setMarks(new Set())} />
        )}
        {detail && menu && (
          <Suspense>
            <RowMenu
              key={menu.key}
              {...{ row: menu.row, button: menu.button, id: idOf(menu.row), href: linkOf(idOf(menu.row)), list: path }}
              detail={detail as DetailOf<unknown>}
            />
          </Suspense>
        )}
        {tile && isGallery && rows && rows.length > 0 && (
          <ul className="gallery" aria-label={title}>
            {rows.map((row, at) => (
              <li key={idOf(row)} data-index={at}>
                {canMark && <Mark index={at} id={idOf(row)} isMarked={marks.has(idOf(row))} onMark={mark} />}
                <Link href={linkOf(idOf(row))}>{tile(row)}</Link>
              </li>
            ))}
          </ul>
        )}
        {isGallery && <More pages={pages} />}
        {values.sort && pages.hasNextPage && (
          <p className="faint" role="status">
            {isShort
              ? `Reading rows to sort them: ${loaded} so far.`
              : `Only the first ${loaded} rows are sorted. Filter, for example by time, to sort fewer.`}
          </p>
        )}
        {!isGallery && rows && rows.length > 0 && (
          <Table
            label={title}
            columns={columns}
            rows={rows}
            idOf={idOf}
            {...(detail ? { linkOf: (row: Row) => linkOf(idOf(row)) } : {})}
            open={open}
            dense={denseRows.get()}
            active={active}
            onActive={setActive}
            {...(canMark ? { marks, onMark: mark } : {})}
            {...(detail ? { onMenu: setMenu } : {})}
            sorted={isShort ? undefined : values.sort}
            onSort={loaded > 1 ? sort : undefined}
            onResize={resize}
            more={{
              has: pages.hasNextPage,
              isLoading: pages.isFetchingNextPage,
              load: () => void pages.fetchNextPage(),
            }}
          />
        )}
        {create && open === 'new' && may && (
          <Drawer title={create.label} label={create.label} onClose={leave} wide={create.wide ?? false} isForm>
            {typeof create.form === 'function' ? (
              <create.form close={close} />
            ) : (
              <NewRow {...{ path, verb: create.label, close }} use={create.useForm ?? (() => create.form as NewForm)} />
            )}
          </Drawer>
        )}
        {detail && open && open !== 'new' && (
          <Detail
            key={open}
            {...{ detail, title, id: open, close, leave }}
            list={path}
            row={all?.find((row) => idOf(row) === open)}
          />
        )}
        {isLeaving && (
          <Ask
            title="Leave without saving"
            verb="Leave"
            danger
            onClose={() => setLeaving(false)}
            onDo={() => {
              setLeaving(false)
              close()
            }}
          >
            <p>What you changed here was not saved.</p>
          </Ask>
        )}
      </Page>
    )
  }
}

/** The declared form for a new row, then what it made. */
function NewRow({ path, verb, use, close }: { path: string; verb: string; use(): NewForm; close(): void }) {
  const { lead, after, ...form } = use()
  const [made, setMade] = useState<ReactNode>(null)
  if (made) return made
  return (
    <>
      {lead && <p className="faint">{lead}</p>}
      <Form
        {...{ method: 'POST', path, touches: [path], verb, ...form }}
        onCancel={close}
        onDone={(answer) => (after ? setMade(after(answer as never, close)) : close())}
      />
    </>
  )
}

const ownId = (row: unknown): string => String((row as { id: unknown }).id)

/** The rows in the order of a column. Rows without a value come last. */
function sortedBy<Row>(rows: readonly Row[], columns: readonly Column<Row>[], by = ''): Row[] {
  const isDown = by.startsWith('-')
  const key = by.slice(isDown ? 1 : 0)
  const sort = columns.find((column) => column.key === key)?.sort
  if (!sort) return [...rows]
  const of = (row: Row) => (sort === true ? ((row as Record<string, string | number | null>)[key] ?? null) : sort(row))
  return rows.toSorted((a, b) => {
    const [left, right] = [of(a), of(b)]
    if (left === null || right === null) return left === right ? 0 : left === null ? 1 : -1
    const order = left < right ? -1 : left > right ? 1 : 0
    return isDown ? -order : order
  })
}
