/** Answers in the order of their requests: one that is not known yet keeps back those behind it. */
export class AnswerLine {
  readonly #places: { give?: () => void }[] = [];

  /** A place in the line. The returned function is called once, with what gives the answer when its turn comes. */
  join(): (give: () => void) => void {
    const place: { give?: () => void } = {};
    this.#places.push(place);
    return (give) => {
      place.give = give;
      this.#advance();
    };
  }

  #advance(): void {
    for (let [first] = this.#places; first?.give; [first] = this.#places) {
      this.#places.shift();
      first.give();
    }
  }
}
