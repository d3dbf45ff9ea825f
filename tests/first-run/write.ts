/** `bun run generate:docs`: writes the pages that the code declares. */
import { generatedPages } from './generated'

for (const [file, text] of Object.entries(await generatedPages())) await Bun.write(file, text)
