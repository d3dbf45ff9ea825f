/** Words that change a picture, and words that request a new one. */
const CHANGE =
  /^(?:(?:now|and|ok|okay|please|then|great|nice|but|can you|could you)[,\s]+)*(?:make (?:it|this|that|them|him|her|the|everything)|turn (?:it|this|that|the)|change|add|remove|delete|replace|put|colou?r|paint (?:it|the)|give (?:it|the)|use|try|with(?:out)?|in (?:a |an )?\p{L}+(?: style| colou?rs?)?$|at (?:night|dusk|dawn|sunset)|bigger|smaller|brighter|darker|more|less|no |another|again|same|instead|but)/iu
const NEW_PICTURE =
  /\b(?:picture|image|drawing|illustration|photo|poster|logo|icon|chart)\s+(?:of|for|with|showing)\b|^(?:please )?(?:draw|create|generate|make|paint|show)(?: me)? (?:a|an|two|three|some)\b/i
const LONGEST = 300

/** Whether a prompt asks to change the previous picture: "make it blue", "add a boat". */
export const changesPicture = (prompt: string): boolean => {
  const text = prompt.trim()
  return text.length <= LONGEST && CHANGE.test(text) && !NEW_PICTURE.test(text)
}

/** The prompt with its context: the description of the picture and the changes so far, oldest first. */
export function pictureDescribed(prompt: string, earlier: readonly string[]): { prompt: string; changes: string[] } {
  if (!changesPicture(prompt)) return { prompt, changes: [] }
  const from = earlier.findLastIndex((one) => !changesPicture(one))
  return from < 0 ? { prompt, changes: [] } : { prompt: earlier[from]!, changes: [...earlier.slice(from + 1), prompt] }
}
