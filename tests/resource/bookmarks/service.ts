import type { Call, Caller } from '../../../src/kernel/caller'
import type { Values } from '../../../src/kernel/config'
import { invalidInput } from '../../../src/kernel/errors'
import { createResource, type ResourceDeps } from '../../../src/resource'
import type { bookmarkSettings } from './config'
import { bookmark } from './resource'
import type { Visit } from './schema'

export type BookmarkService = ReturnType<typeof createBookmarks>
type Deps = { resources: ResourceDeps; settings: Values<typeof bookmarkSettings> }

export function createBookmarks({ resources, settings }: Deps) {
  const bookmarks = createResource(resources, bookmark, {
    max: settings.maxBookmarks,
    async read({ name, url, is_default }) {
      if (url && !URL.canParse(url)) throw invalidInput('url', '"url" is not an address.')
      return { name, url, is_default }
    },
  })
  return { bookmarks, visit }

  /** `POST /bookmarks/{id}/visit`: a verb of its own. */
  async function visit({ caller }: Call<Caller>, id: string): Promise<Visit> {
    const { url } = await bookmarks.find(resources.store.read, caller, id)
    return { host: url === null ? null : new URL(url).host }
  }
}
