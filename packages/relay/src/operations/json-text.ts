/** JSON put together from parts that are JSON already: what is kept as text is not parsed only to be written again. */

/** The object with further members, each as `"name":value`; an empty text is none. */
export function withMembers(object: string, ...members: readonly string[]): string {
  let text = object.slice(0, -1);
  for (const member of members) if (member !== "") text += text === "{" ? member : `,${member}`;
  return `${text}}`;
}
