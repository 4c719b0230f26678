/** Answers in the order of their requests: one that is not known yet keeps back those behind it. */
export class AnswerLine {
  #places: { give?: () => void }[] = [];

  get length(): number {
    return this.#places.length;
  }

  /** A place in the line. The returned function is called once, with what gives the answer when its turn comes. */
  join(): (give: () => void) => void {
    const place: { give?: () => void } = {};
    this.#places.push(place);
    return (give) => {
      place.give = give;
      this.#advance();
    };
  }

  /** Nobody gets an answer any more. */
  clear(): void {
    this.#places = [];
  }

  #advance(): void {
    for (let [first] = this.#places; first?.give; [first] = this.#places) {
      this.#places.shift();
      first.give();
    }
  }
}
