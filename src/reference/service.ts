import { type Call, callsOf } from './calls'
import { clientsPage } from './clients-page'
import { lighter } from './console-page'
import { groupPage } from './group-page'
import { type Document, type Group, groupsOf, resolver } from './operations'
import { errorPage, errorsPage, llmsText, startPage } from './other-pages'
import { ERROR_PAGES } from './schema'

export type Reference = ReturnType<typeof createReference>

/** A page as Markdown; `links` are the groups, for the list beside it, and `calls` can be tried on the page. */
export type Page = {
  title: string
  markdown: string
  links: readonly Pick<Group, 'name' | 'slug'>[]
  calls: readonly Call[]
}

/** Pages that are kept: readers come by few addresses, and a page takes some milliseconds to make. */
const MOST_KEPT = 500

/** Makes the pages of the reference from the document; `read` gives it, once all routes are there. */
export function createReference({ read }: { read(): unknown }) {
  let known: { document: Document; groups: Group[] } | null = null
  const kept = new Map<string, Page>()

  function source() {
    if (!known) {
      const document = read() as Document
      known = { document, groups: groupsOf(document) }
    }
    return known
  }

  function made(path: string, origin: string): string | null {
    const { document, groups } = source()
    const base = `${origin}/api/v1`
    if (path === '') return startPage(document, groups, base)
    if (path === 'errors') return errorsPage()
    if (path === 'clients') return clientsPage(origin)
    if (path.startsWith('errors/')) {
      const code = path.slice('errors/'.length)
      return Object.hasOwn(ERROR_PAGES, code) ? errorPage(code, ERROR_PAGES[code]!) : null
    }
    const group = groups.find(({ slug }) => slug === path)
    return group ? groupPage(group, resolver(document), base) : null
  }

  return {
    /** The page at `/docs/{path}` for readers who came by `origin`; null when there is none. */
    page(path: string, origin: string): Page | null {
      const name = `${origin} ${path}`
      const found = kept.get(name)
      if (found) return found
      const markdown = made(path, origin)
      if (markdown === null) return null
      const title = /^# (.+)/.exec(markdown)?.[1] ?? 'Reference'
      const { document, groups } = source()
      const group = groups.find(({ slug }) => slug === path)
      const page = { title, markdown, links: groups, calls: group ? callsOf(group, resolver(document)) : [] }
      if (kept.size >= MOST_KEPT) kept.clear()
      kept.set(name, page)
      return page
    },

    /** The document for the console, as JSON. */
    forConsole: (): string => JSON.stringify(lighter(source().document)),

    /** `llms.txt`. */
    llms(): string {
      const { document, groups } = source()
      return llmsText(document, groups)
    },

    /** Every path that `page` knows. */
    paths: (): string[] => [
      '',
      ...source().groups.map(({ slug }) => slug),
      'clients',
      'errors',
      ...Object.keys(ERROR_PAGES).map((code) => `errors/${code}`),
    ],
  }
}
