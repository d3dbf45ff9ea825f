import { type Call, callsOf } from './calls'
import { clientsPage } from './clients-page'
import { lighter } from './console-page'
import { groupPage } from './group-page'
import { type Document, type Group, groupsOf, resolver } from './operations'
import { errorPage, errorsPage, llmsText, startPage } from './other-pages'
import { playgroundCalls, playgroundPage } from './playground-page'
import { ERROR_PAGES } from './schema'

export type Reference = ReturnType<typeof createReference>

type Link = Pick<Group, 'name' | 'slug'>

/** A page as Markdown; `links` are the list beside it, and `calls` can be tried on the page. */
export type Page = {
  title: string
  markdown: string
  links: readonly Link[]
  calls: readonly Call[]
}

/** Pages that are kept: readers come by few addresses, and a page takes some milliseconds to make. */
const MOST_KEPT = 500

type Deps = {
  /** Gives the OpenAPI document, once all routes are there. */
  read(): unknown
  /** Prompts can be tried in the browser. */
  playground: boolean
}

/** Makes the pages of the reference from the document. */
export function createReference({ read, playground }: Deps) {
  let known: { document: Document; groups: Group[] } | null = null
  const own: Link[] = playground ? [{ name: 'Playground', slug: 'playground' }] : []
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
    if (path === '') return startPage(document, groups, { base, playground })
    if (path === 'errors') return errorsPage()
    if (path === 'clients') return clientsPage(origin)
    if (path === 'playground') return playground ? playgroundPage(groups, resolver(document), base) : null
    if (path.startsWith('errors/')) {
      const code = path.slice('errors/'.length)
      return Object.hasOwn(ERROR_PAGES, code) ? errorPage(code, ERROR_PAGES[code]!) : null
    }
    const group = groups.find(({ slug }) => slug === path)
    return group ? groupPage(group, resolver(document), base) : null
  }

  function calls(path: string): Call[] {
    const { document, groups } = source()
    if (path === 'playground') return playgroundCalls(groups, resolver(document))
    const group = groups.find(({ slug }) => slug === path)
    return group ? callsOf(group, resolver(document)) : []
  }

  const links = (): Link[] => [
    { name: 'Start', slug: '' },
    ...own,
    ...source().groups,
    { name: 'Clients', slug: 'clients' },
    { name: 'Errors', slug: 'errors' },
    { name: 'Console', slug: 'console' },
  ]

  return {
    /** The page at `/docs/{path}` for readers who came by `origin`; null when there is none. */
    page(path: string, origin: string): Page | null {
      const name = `${origin} ${path}`
      const found = kept.get(name)
      if (found) return found
      const markdown = made(path, origin)
      if (markdown === null) return null
      const title = /^# (.+)/.exec(markdown)?.[1] ?? 'Reference'
      const page = { title, markdown, links: links(), calls: calls(path) }
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
      ...own.map(({ slug }) => slug),
      ...source().groups.map(({ slug }) => slug),
      'clients',
      'errors',
      ...Object.keys(ERROR_PAGES).map((code) => `errors/${code}`),
    ],
  }
}
